/*
 * Finds the virtual machine by its shape: it leads to its first thread, which leads back to it, and
 * both lead to the same Ractor.  All bytes are foreign.
 */
#include "host/interpreter/ruby/machine.h"

#include <stdlib.h>

#define DATA_MAX (1u << 20) /* bytes that are read; Debian's have less than half of it */

#define MACHINE_BYTES  48u
#define MACHINE_RACTOR 32u
#define MACHINE_THREAD 40u
#define THREAD_BYTES   40u
#define THREAD_RACTOR  24u
#define THREAD_MACHINE 32u

static bool is_machine(const struct target_memory *memory, uint64_t address)
{
	unsigned char machine[MACHINE_BYTES], thread[THREAD_BYTES];
	uint64_t ractor, first;

	if (!address || address & 7 || address >> 48 ||
	    memory->read(memory->context, address, machine, sizeof(machine)))
		return false;
	ractor = word_in(machine, MACHINE_RACTOR);
	first = word_in(machine, MACHINE_THREAD);
	return ractor && first && !(first & 7) &&
	       !memory->read(memory->context, first, thread, sizeof(thread)) &&
	       word_in(thread, THREAD_MACHINE) == address &&
	       word_in(thread, THREAD_RACTOR) == ractor;
}

uint64_t ruby_machine_find(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	size_t size = end > start ? (size_t)MIN(end - start, DATA_MAX) : 0;
	unsigned char *data = malloc(size + 1);
	uint64_t found = 0;

	start = (start + 7) & ~7ull;
	if (data && size > 8 && !memory->read(memory->context, start, data, size - 8))
		for (size_t i = 0; !found && i + 16 <= size; i += 8)
			if (is_machine(memory, word_in(data, i)))
				found = start + i;
	free(data);
	return found;
}

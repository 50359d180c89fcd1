/*
 * The present variables of a process: a launcher's child may set its rank itself.  libc's `environ`
 * is found by name in the mapped ELF objects.  Everything read is foreign.
 */
#include "host/fleet/find/variables.h"

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/fleet/find/mapped_symbol.h"

#include <errno.h>
#include <string.h>

#define ENTRIES_MAX 4096u
#define ENTRY_MAX   4096u

/* Reads a text up to its zero; false: it is not terminated, unreadable, or too long. */
static bool entry_read(int memory, uint64_t address, struct bytes *into)
{
	char text[ENTRY_MAX];
	size_t size = 0;

	while (size < sizeof(text)) {
		/* Within the page: the next one may not be mapped. */
		size_t part = MIN(4096 - (address + size) % 4096, sizeof(text) - size);
		const char *end;

		if (!memory_read(memory, address + size, text + size, part))
			return false;
		end = memchr(text + size, '\0', part);
		if (end) {
			bytes_put(into, text, (size_t)(end - text) + 1);
			return true;
		}
		size += part;
	}
	return false;
}

static int entries_read(int memory, uint64_t list, struct bytes *into)
{
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t entry;

		if (!memory_read(memory, list + i * sizeof(entry), &entry, sizeof(entry)))
			return -EFAULT;
		if (!entry)
			return into->has_failed ? -ENOMEM : 0;
		(void)!entry_read(memory, entry, into);
	}
	return 0;
}

int variables_read_live(struct variables *ret, pid_t pid)
{
	CLEANUP(close) int memory = memory_open(pid);
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	uint64_t address, list;
	int r = memory < 0 ? memory : mapped_symbol_find(pid, memory, "environ", &address);

	*ret = (struct variables){ 0 };
	if (r)
		return r;
	if (!memory_read(memory, address, &list, sizeof(list)))
		return -EFAULT;
	r = entries_read(memory, list, &bytes);
	bytes_put(&bytes, "", 1);
	if (r || bytes.has_failed)
		return r ? r : -ENOMEM;
	ret->text = (char *)bytes.data;
	ret->size = bytes.size - 1;
	bytes = (struct bytes){ 0 };
	return 0;
}

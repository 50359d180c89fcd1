/*
 * A signal handler may run on a stack of its own (sigaltstack), which may be a local array inside
 * the thread's stack: then memory below its end is in use. The kernel stores the location of that
 * stack in the signal frame that it lays there, above the stack pointer.
 */
#include "injector/injector.h"

#define SEARCH_BYTES 0x4000u
#define FLAGS_KNOWN  0x80000003u /* of stack_t: on it, disabled, autodisarm */
#define SIZE_MIN     2048u       /* the kernel's minimum */

/* True if these words, found at `here`, describe a part of the stack that contains both `here` and
 * the pointer. */
static bool words_describe(const uint64_t words[3], uint64_t here, uint64_t pointer,
			   const struct job_stack *stack)
{
	uint64_t base = words[0], size = words[2];

	return base >= stack->start && base <= pointer && size >= SIZE_MIN &&
	       size <= stack->end - base && here - base < size &&
	       !((uint32_t)words[1] & ~FLAGS_KNOWN);
}

bool is_on_signal_stack(const struct stopped *self, const struct job_stack *stack)
{
	static uint64_t words[SEARCH_BYTES / sizeof(uint64_t)];
	uint64_t pointer = arch_stack_pointer(&self->state.regs), start = ALIGN_UP(pointer, 8);
	size_t count = MIN(SEARCH_BYTES, stack->end - start) / sizeof(words[0]);

	if (memory_read(self, start, words, count * sizeof(words[0])))
		return false;
	for (size_t i = 0; i + 2 < count; i++)
		if (words_describe(words + i, start + i * sizeof(words[0]), pointer, stack))
			return true;
	return false;
}

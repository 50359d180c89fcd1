/*
 * Stacks that libc has allocated for threads.
 */
#pragma once

#include "host/process/maps.h"

struct thread_stack {
	uint64_t start, end;
	bool is_free; /* its thread has ended: libc keeps it for reuse */
};

/* The stack at the beginning of this mapping, behind a guard.  `used`: a thread's stack pointer in
 * it; 0: none.  False: there is no stack, or none that can be told from other memory. */
bool thread_stack_find(int memory, const struct maps *maps, size_t index, uint64_t used,
		       struct thread_stack *ret);

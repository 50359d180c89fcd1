/*
 * Stacks that libc has made for threads.
 */
#pragma once

#include "host/process/maps.h"

struct thread_stack {
	uint64_t start, end;
	bool is_free; /* its thread has ended: libc keeps it for another one */
};

/* The stack that this mapping begins with, behind a guard.  `used`: where a thread's stack pointer
 * is in it; 0: nowhere.  False: it is none, or none that can be told from other memory. */
bool thread_stack_find(int memory, const struct maps *maps, size_t index, uint64_t used,
		       struct thread_stack *ret);

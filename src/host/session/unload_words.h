/*
 * What tracer_unload.c searches for in the target's memory: words that lead into the tracer's code,
 * and the stacks that libc has allocated for threads.
 */
#pragma once

#include "host/process/maps.h"

struct range {
	uint64_t start, end;
};

struct tracer_code {
	int memory;             /* of the target */
	struct range code, all; /* all: every mapping of the tracer */
};

bool range_has(struct range range, uint64_t address);

/* The address of a call in flight's frame among these words, which begin at `at`. */
bool tracer_frame_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret);

/* The same, or any other address by which a thread may return to the tracer's code. */
bool tracer_words_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret);

struct thread_stack {
	uint64_t start, end;
	bool is_free; /* its thread has ended: libc keeps it for reuse */
};

/* The stack at the beginning of this mapping, behind a guard.  `used`: a thread's stack pointer in
 * it; 0: none.  False: there is no stack, or none that can be told from other memory. */
bool thread_stack_find(int memory, const struct maps *maps, size_t index, uint64_t used,
		       struct thread_stack *ret);

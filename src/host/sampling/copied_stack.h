/*
 * Stack memory of a sample: the copy, and elsewhere what the process has there now.  That is a
 * guess: it may have changed since.
 */
#pragma once

#include "host/sampling/perf_sample.h"

#define COPIED_STACK_PIECE 4096u

struct copied_stack {
	const struct perf_sample *sample;
	pid_t pid;
	bool ran_off; /* the copy was too short */
	bool is_guessed;
	uint64_t piece_at, piece_size;
	unsigned char piece[COPIED_STACK_PIECE];
};

/* For a memory_reader; the context is a struct copied_stack. */
int copied_stack_read(void *context, uint64_t address, void *into, size_t size);

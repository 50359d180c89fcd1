/*
 * Words of the program's memory that lead into the tracer's code: see tracer_unload.c.  Host only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end;
};

struct tracer_code {
	int memory;             /* of the program */
	struct range code, all; /* all: whatever is mapped of the tracer */
};

bool range_has(struct range range, uint64_t address);

/* Where a frame of a call in flight is among these words of the address `at`. */
bool tracer_frame_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret);

/* The same, or any other address by which a thread may come back to the tracer's code. */
bool tracer_words_find(const struct tracer_code *self, uint64_t at, const uint64_t *words,
		       size_t count, uint64_t *ret);

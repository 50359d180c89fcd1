/*
 * Words of the target's memory that lead into the tracer's code: see tracer_unload.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Folded stacks: lines of names with ';' between them, and a sum for each.  Stacks that read alike
 * are one line.
 */
#pragma once

#include "host/core/pool.h"

#include <stdio.h>

struct folded_lines {
	FILE *out;          /* one stack, in memory: write it here, then add it */
	struct pool stacks; /* in the order of their coming */
	uint64_t *sums;     /* of each */
	size_t room;
	char *text;
	size_t size;
};

/* 0 or -ENOMEM, both. */
int folded_lines_open(struct folded_lines *ret) MUST_CHECK;
/* Adds to the sum of the stack that was written, and empties it. */
int folded_lines_add(struct folded_lines *lines, uint64_t value) MUST_CHECK;
/* Sums are divided by `unit`, and rounded. */
void folded_lines_write(const struct folded_lines *lines, uint64_t unit, FILE *out);
void folded_lines_done(struct folded_lines *lines);

static inline void folded_lines_done_at_scope_end(struct folded_lines *lines)
{
	folded_lines_done(lines);
}

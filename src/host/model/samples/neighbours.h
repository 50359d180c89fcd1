/*
 * One function among its samples: its callers, its callees, and its lines.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/model/samples/profile.h"

struct neighbour {
	const struct sample_function *function;
	uint64_t total_ns; /* of samples with both of them, next to each other */
};

struct hot_line {
	const char *file;           /* "": not known */
	uint32_t line;              /* 0: not known */
	uint64_t self_ns, total_ns; /* at the line itself; with its callees */
};

/* All lists have the heaviest first. */
struct neighbours {
	uint64_t self_ns, total_ns; /* of the function */
	struct neighbour *callers, *callees;
	struct hot_line *lines;
	size_t caller_count, callee_count, line_count;
};

/* `function` is its number in the samples. */
int neighbours_find(struct neighbours *ret, const struct profile *profile,
		    uint32_t function) MUST_CHECK;
void neighbours_done(struct neighbours *neighbours);

DEFINE_STRUCT_CLEANUP(neighbours, neighbours_done)

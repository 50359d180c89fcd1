/*
 * Time cut into equal parts, and how much of many samples lies in each.  A sample costs the same
 * however many parts it reaches over: recordings may have any number of waits of any length.
 */
#pragma once

#include "host/ui/store/slice.h"

struct bins {
	uint64_t from_ns, step_ns, count;
};

/* Of one row of bins or of several, one behind the other. */
struct bins_sums {
	double *cells; /* nanoseconds in each, after bins_sums_finish() */
	double *whole; /* where bins begin and end to be full, while it is filled */
};

/* 0 or -ENOMEM. */
int bins_sums_init(struct bins_sums *ret, size_t cells) MUST_CHECK;
void bins_sums_done(struct bins_sums *sums);

/* Adds a piece to the row that begins at cell `first`. */
void bins_add(struct bins_sums *sums, const struct bins *bins, size_t first,
	      const struct piece *piece);
void bins_sums_finish(struct bins_sums *sums, const struct bins *bins, size_t cells);

/* All samples of a slice in one row of cells, which are empty.  0 or -ENOMEM. */
int bins_fill(const struct bins *bins, const struct slice *slice, double *cells) MUST_CHECK;

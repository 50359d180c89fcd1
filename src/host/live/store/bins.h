/*
 * Time divided into equal parts, and the share of many samples in each.  A sample costs the same
 * for any number of parts: recordings may have any number of waits of any length.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/live/store/slice.h"

struct bins {
	uint64_t from_ns, step_ns, count;
};

/* Of one row of bins or of several, one behind the other. */
struct bins_sums {
	double *cells;  /* nanoseconds in each, after bins_sums_finish() */
	int32_t *whole; /* where bins begin and end to be full, while it is filled */
};

/* 0 or -ENOMEM. */
int bins_sums_init(struct bins_sums *ret, size_t cells) MUST_CHECK;
void bins_sums_done(struct bins_sums *sums);

DEFINE_STRUCT_CLEANUP(bins_sums, bins_sums_done)

/* Adds a piece to the row that begins at cell `first`. */
void bins_add(struct bins_sums *sums, const struct bins *bins, size_t first,
	      const struct piece *piece);
void bins_sums_finish(struct bins_sums *sums, const struct bins *bins, size_t cells);

/* Where samples go: all into one row, or each thread and kind into one of its own. */
struct bins_rows {
	size_t count;
	const uint32_t *of_threads; /* the first row of each; NULL: the first for all */
	size_t kind_step;           /* from the row of a kind to that of the next; 0: one for all */
};

/* Adds all samples of a slice, and finishes.  The sums are of bins and rows, and zero.  0 or
 * -ENOMEM. */
int bins_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
	      const struct slice *slice) MUST_CHECK;

/* The running time of threads, from switches of the scheduler, of a slice that has the waits of its
 * threads: a thread that returned from a wait and has not begun another one is running.  Gaps
 * shorter than `hole_ns` are running time; in longer ones only sampled time is, as waits may have
 * been lost, or not been recorded for a while.  0 or -ENOMEM. */
int running_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
		 const struct slice *slice, uint64_t hole_ns) MUST_CHECK;

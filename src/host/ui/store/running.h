/*
 * The running time of threads, from switches of the scheduler: a thread that returned from a wait
 * and has not begun another one is running.  Samples only locate longer stretches.
 */
#pragma once

#include "host/ui/store/bins.h"

/* As bins_fill(), for a slice that has the waits of its threads: running time is between them.
 * Gaps shorter than `hole_ns` are running time; in longer ones only sampled time is, as waits may
 * have been lost, or not been recorded for a while.  0 or -ENOMEM. */
int running_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
		 const struct slice *slice, uint64_t hole_ns) MUST_CHECK;

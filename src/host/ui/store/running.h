/*
 * When threads ran, by switches of the scheduler: a thread that came back from a wait and has not
 * begun another one is running.  Samples only say where longer stretches are.
 */
#pragma once

#include "host/ui/store/bins.h"

/* As bins_fill(), of a slice that has the waits of its threads: running time lies between them.
 * Holes that are shorter than `hole_ns` are running time; in longer ones as much as was sampled is,
 * as waits may have been lost, or not been watched for a while.  0 or -ENOMEM. */
int running_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
		 const struct slice *slice, uint64_t hole_ns) MUST_CHECK;

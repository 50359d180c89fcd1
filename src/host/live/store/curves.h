/*
 * Processor time, memory and threads over time: of a live process, and of a recording.
 */
#pragma once

#include "host/live/store/bins.h"

#include <sys/types.h>

#define CURVE_POINTS_MAX 3600u

struct curve_point {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	double cpu_percent, rss_bytes, threads;
};

/* Of a live process.  Bounded: when it is full, every second point is dropped, and later points are
 * half as frequent.  Zero is empty. */
struct curves {
	struct curve_point *points;
	size_t count;
	unsigned stride, skipped; /* one of so many readings is kept */
	uint64_t last_ns, last_cpu_ns;
};

/* Reads the process; does nothing if it has ended or there is no memory. */
void curves_poll(struct curves *curves, pid_t pid);
void curves_done(struct curves *curves);

/* The curves of a recording from its readings of processes: for all of them together, a point for
 * each bin; NAN if unknown.  0 or -ENOMEM. */
int usage_curves_fill(const struct model *model, const struct bins *bins,
		      struct curve_point *ret) MUST_CHECK;

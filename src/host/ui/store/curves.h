/*
 * Processor time, memory and threads of a process over time.  Bounded: when it is full, every
 * second point leaves, and points come half as often.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define CURVE_POINTS_MAX 3600u

struct curve_point {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	double cpu_percent, rss_bytes, threads;
};

/* Zero is empty. */
struct curves {
	struct curve_point *points;
	size_t count;
	unsigned stride, skipped; /* of so many looks one is kept */
	uint64_t last_ns, last_cpu_ns;
};

/* Looks at the process; nothing happens where it is gone or there is no memory. */
void curves_look(struct curves *curves, pid_t pid);
void curves_done(struct curves *curves);

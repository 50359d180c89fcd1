/*
 * Processor time, memory and threads of a process over time.  Bounded: when it is full, every
 * second point is dropped, and later points are half as frequent.
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
	unsigned stride, skipped; /* one of so many readings is kept */
	uint64_t last_ns, last_cpu_ns;
};

/* Reads the process; does nothing if it has ended or there is no memory. */
void curves_look(struct curves *curves, pid_t pid);
void curves_done(struct curves *curves);

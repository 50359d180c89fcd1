/*
 * Durations of calls, in numbers.
 */
#pragma once

#include "shared/base/macros.h"

struct statistics {
	uint64_t calls, total_ns, least_ns, most_ns;
	double mean_ns, squares; /* computed incrementally: no sum of squares that loses digits */
};

static inline void statistics_add(struct statistics *statistics, uint64_t duration_ns)
{
	double distance = (double)duration_ns - statistics->mean_ns;

	if (!statistics->calls || duration_ns < statistics->least_ns)
		statistics->least_ns = duration_ns;
	statistics->most_ns = MAX(statistics->most_ns, duration_ns);
	statistics->calls++;
	statistics->total_ns += duration_ns;
	statistics->mean_ns += distance / (double)statistics->calls;
	statistics->squares += distance * ((double)duration_ns - statistics->mean_ns);
}

/* For sorting: the larger total first. */
static inline int statistics_by_time(const struct statistics *a, const struct statistics *b)
{
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

/* Of all calls, not of a sample of them. */
double statistics_deviation_ns(const struct statistics *statistics);

/* Of calls as a sample of more; 0 for a single one. */
double statistics_sample_deviation_ns(const struct statistics *statistics);

/* Hundredths of a percent of a whole, rounded down: 100.00 % is all of it.  Every share that limpet
 * shows is rounded so. */
uint64_t share_of(uint64_t part, uint64_t whole);

/* The same in percent. */
static inline double share_percent(uint64_t part, uint64_t whole)
{
	return (double)share_of(part, whole) / 100;
}

/* To a tenth; and of a share that is known with all its digits, or of the
 * difference of two: towards 0. */
double share_tenths(uint64_t part, uint64_t whole);
double share_shown(double percent);

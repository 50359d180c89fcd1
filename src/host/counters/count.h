/*
 * Values of counters: readings, added up over threads, scaled if a counter was not scheduled all
 * the time; and ratios of counts: processors in use, instructions per cycle, shares of misses,
 * rates.
 */
#pragma once

#include "host/counters/event.h"

/* As the kernel has it. */
struct counter_reading {
	uint64_t value;
	uint64_t enabled_ns; /* its thread ran, and it was to be counted */
	uint64_t running_ns; /* it was */
};

/* Readings of several threads. */
struct counter_sum {
	uint64_t value;      /* as counted */
	uint64_t scaled;     /* each to the whole time of its thread */
	uint64_t enabled_ns; /* of all */
	uint64_t running_ns;
	uint64_t heard_ns; /* enabled_ns of those that counted at all */
};

enum count_status {
	COUNT_COUNTED,
	COUNT_SCALED,        /* not all of the time: the value is an estimate */
	COUNT_INCOMPLETE,    /* not of all threads: there was more of it */
	COUNT_NOT_COUNTED,   /* no value, though this machine has the event */
	COUNT_NOT_SUPPORTED, /* nor can there be one */
	COUNT_STATUSES,
};

struct count {
	enum count_status status;
	uint64_t value; /* 0 where there is none */
	double share;   /* of the time for which it was counted; 0 where there is no value */
};

void counter_sum_add(struct counter_sum *sum, const struct counter_reading *reading);

/* Of threads that never ran nothing was there to be counted: that is a true 0. */
struct count counter_sum_count(const struct counter_sum *sum, const struct counter_event *event);

/* The difference; never below 0. */
struct counter_reading counter_reading_since(const struct counter_reading *now,
					     const struct counter_reading *before);

/* The difference of two counts, if both are known; else there is no value. */
struct count count_rest(const struct count *whole, const struct count *part);

static inline bool count_has_value(const struct count *count)
{
	return count->status < COUNT_NOT_COUNTED;
}

/* "counted", "scaled", "incomplete", "not counted", "not supported" */
const char *count_status_name(enum count_status status);

struct counter_metric {
	double value;
	const char *unit; /* "CPUs utilized", "per cycle", "% of branches"; NULL: there is none */
};

/* counts: one for each event.  span_ns: how long was counted by the clock on the wall. */
struct counter_metric counter_metric_find(const struct counter_events *events,
					  const struct count *counts, size_t index,
					  uint64_t span_ns);

/*
 * Live counters of a process and its devices, for screens and sums: recorded as by limpet record,
 * into no file, and observed on their way.
 */
#pragma once

#include "host/recorder/windows/counter_choice.h"

/* The total of windows. */
struct counter_total {
	double sum;       /* of a count; of a level: by time */
	uint64_t time_ns; /* of windows with a value */
};

struct watched_counter {
	uint32_t metric;
	uint64_t device; /* METRIC_NO_DEVICE: none */
	char name[COUNTER_NAME_MAX], subject[128], unit[16];
	bool is_level, is_time; /* a mean, not a sum; nanoseconds */
	struct counter_total all, interval;
	struct counter_total latest; /* one window */
};

struct counter_watch;

/* Attaches if device counters are wanted.  The choice must outlive it, and belongs to this watch
 * alone. */
int counter_watch_start(struct counter_watch **ret, struct counter_choice *choice, pid_t pid,
			const char *version, struct err *err) MUST_CHECK;
/* Detaches; the last windows are included then. */
int counter_watch_stop(struct counter_watch *watch, struct err *err) MUST_CHECK;
void counter_watch_free(struct counter_watch *watch);

/* Begins the next interval. */
void counter_watch_turn(struct counter_watch *watch);
/* All of them, first those of processes, then by device; the caller frees them.  NULL: none, or no
 * memory. */
struct watched_counter *counter_watch_copy(struct counter_watch *watch, size_t *ret_count);

/* A count per second, a level as it is, a time as processors; false: nothing was counted. */
bool counter_total_rate(const struct watched_counter *counter, const struct counter_total *total,
			double *ret);
/* The unit of that rate. */
const char *watched_counter_unit(const struct watched_counter *counter);

/*
 * Counters of a process and its devices as they come, for screens and sums: recorded as by limpet
 * record, into nothing, and seen on their way there.
 */
#pragma once

#include "host/recorder/windows/counter_choice.h"

/* What windows come to. */
struct counter_total {
	double sum;       /* of a count; of a level: by time */
	uint64_t time_ns; /* of windows with a value */
};

struct watched_counter {
	uint32_t metric;
	uint64_t device; /* METRIC_NO_DEVICE */
	char name[COUNTER_NAME_MAX], subject[128], unit[16];
	bool is_level, is_time; /* a mean, and no sum; nanoseconds */
	struct counter_total all, interval;
	struct counter_total latest; /* one window */
};

struct counter_watch;

/* Attaches where devices are asked for.  The choice must outlive it, and is watched by this one
 * alone. */
int counter_watch_start(struct counter_watch **ret, struct counter_choice *choice, pid_t pid,
			const char *version, struct err *err) MUST_CHECK;
/* Detaches; the last windows are in it then. */
int counter_watch_stop(struct counter_watch *watch, struct err *err) MUST_CHECK;
void counter_watch_free(struct counter_watch *watch);

/* The next interval begins. */
void counter_watch_turn(struct counter_watch *watch);
/* All of them, first those of processes, then by device; the caller frees them.  NULL: none, or no
 * memory. */
struct watched_counter *counter_watch_look(struct counter_watch *watch, size_t *ret_count);

/* A count by the second, a level as it is, a time as processors; false: nothing was counted. */
bool counter_total_rate(const struct watched_counter *counter, const struct counter_total *total,
			double *ret);
/* The unit of that. */
const char *watched_counter_unit(const struct watched_counter *counter);

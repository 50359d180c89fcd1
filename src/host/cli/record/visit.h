/*
 * One recording under way: visit.c makes it, finish.c ends it.
 */
#pragma once

#include "host/attach/launch/launched.h"
#include "host/cli/record/samples.h"
#include "host/core/options.h"
#include "host/recorder/record_job.h"
#include "host/recorder/windows/counter_choice.h"
#include "host/runtimes/runtimes.h"

struct record_values {
	uint32_t domains_traced;
	bool address_entries, alloc_stacks, io_stacks, lock_stacks, all_locks, gpu_metrics, has_pm;
	bool runtime_flags[RUNTIME_OPTIONS];
	const char *runtime_words[RUNTIME_OPTIONS];
	bool unload, force, resumes, all_descendants, is_json, is_watched, no_open, overwrites;
	struct option_list functions, pids, counters;
	const char *output, *alloc_sample, *max_size, *ring_size, *period, *pm_metrics;
	uint64_t duration_ns, counter_interval_ns;
	struct sample_words samples;
};

#define RECORD_VALUES \
	((struct record_values){ .duration_ns = UINT64_MAX, .samples.hz = HZ_NOT_GIVEN })

/* Checks them without a process; *ret_traces: code will be loaded into it. */
int record_values_check(const struct record_values *values, bool *ret_traces,
			struct err *err) MUST_CHECK;

struct visit {
	const struct record_values *values;
	struct recorder *recorder;
	struct record_job job;
	const char *path;
	char own_path[64];         /* if none was given */
	struct launched *launched; /* NULL: the processes were there before */
	struct period period;
	int signals;
	pid_t pids[OPTION_LIST_MAX];
	size_t pid_count;
	bool shows_progress;
	unsigned programs; /* programs reported so far */
	struct sampling_options sampling;
	char told[SAMPLING_REASONS_MAX]; /* of why no better sampler */
	struct counter_choice counters;
	bool samples, traces, counts;
	bool replaces;         /* an existing file at `path` */
	bool loads_agent;      /* for some of the traces */
	uint32_t domains;      /* that are traced */
	uint32_t domains_held; /* of those: another profiler holds them */
	uint32_t domains_seen; /* of those: found, or missing for a reported reason */
};

/* The result of a recording. */
struct outcome {
	struct recorder_outcome recorded;
	struct sampling_totals sampled;
	char reasons[SAMPLING_REASONS_MAX]; /* why no better sampler */
};

/* More than one process may be in the file. */
bool visit_has_family(const struct visit *visit);

/* The listener that prints the recorder's events. */
struct recorder_listener visit_listener(struct visit *visit);

/* Instead of the rest: records, and shows a page of it until Ctrl-C (watched.c). */
int record_watched(struct visit *visit, struct recorder_options *options,
		   struct err *err) MUST_CHECK;

/* All its periods, until something ends it. */
int record_visit(struct visit *visit, struct err *err) MUST_CHECK;
/* Closes the recording of a visit that ended with `r`, and prints its result; fails if it is
 * empty. */
int record_finish(struct visit *visit, int r, struct err *err) MUST_CHECK;

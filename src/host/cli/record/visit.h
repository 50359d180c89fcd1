/*
 * One recording under way: visit.c makes it, finish.c ends it, messages.c prints what happens
 * meanwhile.
 */
#pragma once

#include "host/attach/launch/launched.h"
#include "host/cli/common/sample_options.h"
#include "host/core/options.h"
#include "host/recorder/record_job.h"
#include "host/recorder/windows/counter_choice.h"
#include "host/runtimes/runtimes.h"

struct record_values {
	struct trace_options trace; /* those with an option of their own */
	bool gpu_metrics, has_pm;
	bool runtime_flags[RUNTIME_OPTIONS];
	const char *runtime_words[RUNTIME_OPTIONS];
	bool unload, force, resumes, all_descendants, is_json, is_watched, no_open, overwrites;
	struct option_list functions, pids, counters;
	const char *output, *period, *pm_metrics;
	uint64_t duration_ns, counter_interval_ns;
	uint64_t max_size; /* bytes; 0: not given */
	struct sample_words samples;
};

#define RECORD_VALUES                                                 \
	{                                                             \
		.duration_ns = UINT64_MAX, .samples.hz = HZ_NOT_GIVEN \
	}

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
	char printed_reasons[SAMPLING_REASONS_MAX]; /* of why no better sampler */
	struct counter_choice counters;
	bool samples, traces, counts;
	bool replaces;         /* an existing file at `path` */
	bool loads_agent;      /* for some of the traces */
	uint32_t domains;      /* that are traced */
	uint32_t domains_held; /* of those: another profiler holds them */
	uint32_t domains_seen; /* of those: found, or missing for a reported reason */
};

/* More than one process may be in the file. */
static inline bool visit_has_family(const struct visit *visit)
{
	return visit->pid_count > 1 || visit->values->samples.children ||
	       visit->values->samples.is_system_wide;
}

/* Before the first attach: what the traces leave loaded in the process. */
void note_what_stays(const struct visit *visit);
void print_attached(const struct visit *visit);
/* Why no better sampler could be had, as far as it was not printed before. */
void print_sampler_reasons(struct visit *visit);
/* Selected domains that are missing, or incomplete. */
void warn_absent(struct visit *visit, const struct tracing *tracing);
/* The process runs another program. */
void print_program(struct visit *visit);
void warn_unfollowed(const struct tracing *tracing);
/* " and its descendants", if they are recorded. */
const char *descendants_text(const struct visit *visit);

/* The listener that prints the recorder's events. */
struct recorder_listener visit_listener(struct visit *visit);
/* All its periods, until something ends it. */
int record_visit(struct visit *visit, struct err *err) MUST_CHECK;

/* Closes the recording of a visit that ended with `r`, and prints its result; fails if it is
 * empty. */
int record_finish(struct visit *visit, int r, struct err *err) MUST_CHECK;

/*
 * One recording under way: visit.c makes it, finish.c ends it.
 */
#pragma once

#include "host/cli/record/launched.h"
#include "host/cli/record/period.h"
#include "host/cli/record/samples.h"
#include "host/core/options.h"
#include "host/recorder/recorder.h"

struct record_values {
	uint32_t domains_traced;
	bool alloc_stacks, all_locks, opencl_device_time;
	bool unload, force, resumes, is_json;
	struct option_list functions;
	const char *pid, *output, *alloc_sample, *max_size, *ring_size, *period;
	uint64_t duration_ns;
	struct sample_words samples;
};

struct visit {
	const struct record_values *values;
	struct recorder *recorder;
	const char *path;
	char own_path[64];         /* where none was given */
	struct launched *launched; /* NULL: the process was there before */
	struct period period;
	uint64_t max_bytes, begin_ns;
	int signals;
	pid_t pid;
	enum ending ending;
	bool is_over, is_full, shows_progress;
	unsigned programs; /* that were told of */
	struct work_left left;
	struct trace_queues queues;
	struct sampling_options sampling;
	char told[SAMPLING_REASONS_MAX]; /* of why no better sampler */
	bool samples, traces;
};

/* What a recording came to. */
struct outcome {
	struct recorder_outcome recorded;
	struct trace_words words;
	struct sampling_totals sampled;
	char reasons[SAMPLING_REASONS_MAX]; /* why no better sampler */
};

/* All its periods, until something ends it. */
int record_visit(struct visit *visit, struct err *err) MUST_CHECK;
/* Closes the recording of a visit that ended with `r`, and says what it came to; an error where
 * there is nothing in it. */
int record_finish(struct visit *visit, int r, struct err *err) MUST_CHECK;

/*
 * What limpet record has to say: at its beginning, while it goes on, and at its end.
 */
#pragma once

#include "host/cli/launched.h"
#include "host/cli/period.h"
#include "host/cli/record_samples.h"
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

/* One recording under way. */
struct visit {
	const struct record_values *values;
	struct recorder *recorder;
	const char *path;
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
	bool samples, traces;
};

/* What a recording came to. */
struct outcome {
	struct collect_totals totals;
	struct trace_words words;
	struct sampling_totals sampled;
	char reasons[2048]; /* why no better sampler */
	uint64_t bytes;
};

uint64_t all_drops(const struct collect_totals *totals);

void print_attached(const struct visit *visit);
/* What was asked for and is not there, or not all of it. */
void warn_absent(const struct visit *visit);
/* The process is the same, what it runs is not. */
void tell_program(struct visit *visit);
void warn_unfollowed(const struct recorder *recorder);
/* What the tracer has to say about the whole. */
void warn_notes(const struct recorder *recorder);
void warn_drops(const struct collect_totals *totals);
void warn_work_left(const struct work_left *left);
/* Whose device times could not be had. */
void warn_queues(const struct trace_queues *queues);
void warn_words(const struct trace_words *words);
void print_totals(const struct visit *visit, const struct outcome *outcome);
/* Of a program that was started. */
void print_end(const struct launch *program, bool is_json);

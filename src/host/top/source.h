/*
 * Samples a process, its family or every process into a live model, on a thread of its own.
 */
#pragma once

#include "host/recorder/samples/sampling.h"
#include "host/top/thread_watch.h"

struct live;
struct source;

#define SOURCE_REASONS_MAX 4096u

struct source_facts {
	const char *sampler, *summary;    /* its name and description */
	char reasons[SOURCE_REASONS_MAX]; /* lines: why no better one, and its limits here */
	uint64_t lost;
	uint32_t throttled; /* at worst one sample in so many was kept; 0 and 1: all */
	bool has_ended;     /* the process */
	struct err error;   /* what ended sampling before that; code 0: nothing */
};

/* Returns when sampling runs; the live model must outlive the source. */
int source_start(struct source **ret, struct live *live, const struct sampling_options *options,
		 struct err *err) MUST_CHECK;
void source_look(struct source *source, struct source_facts *ret);
/* What its Python knows of a thread; false: nothing. */
bool source_python_thread(struct source *source, pid_t pid, pid_t tid, struct watched_thread *ret);
struct thread_namer source_namer(struct source *source);
/* Drains pending samples, and stops.  May be called again. */
void source_stop(struct source *source);
void source_free(struct source *source);

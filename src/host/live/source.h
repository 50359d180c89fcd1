/*
 * Samples and traces processes into a live store: the recorder, on a thread of its own.  What is
 * traced goes into a file, which is in memory, or kept on request; it can be read while it grows.
 */
#pragma once

#include "host/recorder/record_job.h"

struct live;
struct source;

#define SOURCE_REASONS_MAX SAMPLING_REASONS_MAX

/* The limit of a recording in memory. */
#define SOURCE_BYTES_MAX ((uint64_t)256 << 20)

struct source_options {
	struct background_options job;           /* samples are filled in */
	const struct sampling_options *sampling; /* NULL: no samples */
	bool is_kept; /* under job.recorder.path, or where that is NULL in limpet-PID.limpet */
};

struct source_facts {
	const char *sampler, *summary;    /* its name and description */
	char reasons[SOURCE_REASONS_MAX]; /* lines: why no better one, and its limits here */
	uint64_t lost;
	uint32_t throttled;      /* at worst one sample in so many was kept; 0 and 1: all */
	bool is_running;         /* it has not ended by itself */
	bool has_ended;          /* the process */
	uint64_t samples;        /* by the sampler */
	uint64_t calls, dropped; /* traced */
	uint64_t bytes;          /* of the file, so far */
	const char *path;        /* of the file that is kept; "": none is */
	struct err error;        /* what ended it before the process; code 0: nothing */
};

/* Samples the processes of these options.  Returns when sampling runs; the live store must outlive
 * the source. */
int source_start(struct source **ret, struct live *live, const struct sampling_options *sampling,
		 struct err *err) MUST_CHECK;
/* The same, and traces and records one process.  Returns when it is attached. */
int source_record(struct source **ret, struct live *live, const struct source_options *options,
		  struct err *err) MUST_CHECK;

void source_query(struct source *source, struct source_facts *ret);
/* What its Python knows of a thread; false: nothing.  source may be NULL. */
bool source_python_thread(struct source *source, pid_t pid, pid_t tid, struct watched_thread *ret);
/* Drains pending samples, and detaches.  May be called again; like those below, by one thread. */
void source_stop(struct source *source);
/* The same, and writes the end of the file; once.  0, or the first error at any time. */
int source_end(struct source *source, struct err *err) MUST_CHECK;
void source_free(struct source *source);

/* Another descriptor of the file, or -errno. */
int source_file(const struct source *source);

/*
 * A live session that is recorded: the one engine (host/recorder) on a thread of its own, with the
 * live model as its watcher.  The file is kept under a name, or is in memory and freed with the
 * job; either way it can be read while it grows.
 */
#pragma once

#include "host/recorder/record_job.h"
#include "host/ui/command.h"

struct live;
struct live_job;

/* The limit of a recording in memory. */
#define LIVE_JOB_BYTES_MAX ((uint64_t)256 << 20)

struct live_job_options {
	struct background_options job;           /* sampling and listeners are filled in */
	const struct sampling_options *sampling; /* NULL: no samples */
	struct live *live;                       /* must outlive it */
	bool is_kept; /* under job.recorder.path, or where that is NULL in limpet-PID.limpet */
};

struct live_job_facts {
	struct background_state state;
	const char *path; /* of the file that is kept; "": none is */
	uint64_t calls, dropped;
};

/* Returns when it is attached. */
int live_job_start(struct live_job **ret, const struct live_job_options *options,
		   struct err *err) MUST_CHECK;
struct thread_namer live_job_namer(struct live_job *job);
void live_job_look(struct live_job *job, struct live_job_facts *ret);
/* Detaches and writes the end of the file; once.  0, or the first error at any time. */
int live_job_end(struct live_job *job, struct err *err) MUST_CHECK;
void live_job_free(struct live_job *job);

/* Another descriptor of the file, or -errno. */
int live_job_file(const struct live_job *job);

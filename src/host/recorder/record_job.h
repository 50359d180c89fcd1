/*
 * A recording from its beginning to its end: the one loop of everything that records.  Whom and
 * what is the recorder's, when and who watches is said here.
 *
 *   In the calling thread:  recorder_open, record_job_run, recorder_end, recorder_free
 *   On one of its own:      background_job_start, (background_job_look), background_job_stop
 */
#pragma once

#include "host/core/self/ending.h"
#include "host/recorder/period.h"
#include "host/recorder/recorder.h"

/* What a watcher waits for. */
struct job_wait {
	int end;          /* readable: there is nobody left; -1: the job sees that itself */
	int socket;       /* POLLRDHUP: return early; -1: none */
	uint64_t time_ns; /* at most for so long, and not much longer than a tenth of a second */
};

/* All but wait may be NULL. */
struct job_watcher {
	/* ENDING_DURATION: it goes on. */
	enum ending (*wait)(void *context, const struct job_wait *wait);
	/* Once: it is attached, or the first delay begins.  A program that was started may go on.
	 */
	int (*ready)(void *context, struct err *err);
	/* Once: it is attached. */
	void (*begun)(void *context);
	/* After each wait. */
	void (*looked)(void *context);
	void *context;
};

struct job_times {
	const struct period *periods; /* one after the other */
	size_t period_count;          /* 0: PERIOD_ALWAYS */
	uint64_t duration_ns; /* in all, without the time that attaching takes; UINT64_MAX */
	uint64_t max_bytes;   /* of the file; 0: any */
};

struct record_job {
	struct recorder *recorder; /* opened, and not the job's */
	struct job_times times;
	struct job_watcher watcher;
	bool unload; /* unmap everything on leaving */

	/* What came of it. */
	enum ending ending;
	bool is_full;      /* max_bytes ended it */
	uint64_t turns;    /* times that recording has begun */
	uint64_t begin_ns; /* when it began, later by what attaching took */

	bool is_over, is_ready; /* the job's */
};

/* All its periods, until something ends it. */
int record_job_run(struct record_job *job, struct err *err) MUST_CHECK;

/* The same beside the caller, in a thread that takes no signals. */
struct background_job;

struct background_options {
	struct recorder_options recorder;
	struct job_times times;
	bool unload;
};

struct background_state {
	bool is_running; /* false: it has come to its end by itself, background_job_stop() says how
			  */
	bool is_full;
	enum ending ending;
	uint64_t turns;
	struct sampling_totals sampled;
	struct tracing_totals traced;
	uint64_t bytes;                     /* of the file, so far */
	char reasons[SAMPLING_REASONS_MAX]; /* sampling_reasons() */
	struct err err;                     /* what ended it; code 0: nothing went wrong */
};

/* Returns when it is attached, or waits for its first period; else it has failed, and there is
 * nothing of it.  What the options point to must outlive it; its listeners are called by the
 * thread. */
int background_job_start(struct background_job **ret, const struct background_options *options,
			 struct err *err) MUST_CHECK;
void background_job_look(struct background_job *job, struct background_state *ret);
/* What a Python that is sampled tells of a thread; false: nothing. */
bool background_job_python_thread(struct background_job *job, pid_t pid, pid_t tid,
				  struct watched_thread *ret);
/* Ends it where it has not ended: detaches, and background_job_look() tells how far it came. */
void background_job_halt(struct background_job *job);
/* Does that, finishes the file (not with gives_up), and frees it.  `ret` is
 * set also when it fails. */
int background_job_stop(struct background_job *job, bool gives_up, struct recorder_outcome *ret,
			struct err *err) MUST_CHECK;

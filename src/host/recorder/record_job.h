/*
 * A recording from its beginning to its end: the one loop of everything that records.  The recorder
 * decides which processes are recorded and what of them; the job decides when, and has a watcher.
 *
 *   In the calling thread:  recorder_open, record_job_run, recorder_end, recorder_free
 *   On a thread of its own: background_job_start, (background_job_query), background_job_stop
 */
#pragma once

#include "host/core/self/ending.h"
#include "host/recorder/recorder.h"

/* When to record: wait, record, repeat. */
struct period {
	uint64_t delay_ns, time_ns; /* UINT64_MAX: without end */
	uint64_t repeat;            /* 0: for ever */
};

/* Starts at once, never ends, runs once. */
#define PERIOD_ALWAYS ((struct period){ .time_ns = UINT64_MAX, .repeat = 1 })

/* What a watcher waits for. */
struct job_wait {
	int end;          /* readable: no process is left; -1: the job checks that itself */
	int socket;       /* POLLRDHUP: return early; -1: none */
	uint64_t time_ns; /* at most this long, give or take a tenth of a second */
};

/* All but wait may be NULL. */
struct job_watcher {
	/* ENDING_DURATION: the job goes on. */
	enum ending (*wait)(void *context, const struct job_wait *wait);
	/* Called once: the job is attached, or the first delay begins.  A program that limpet
	 * started may now run. */
	int (*ready)(void *context, struct err *err);
	/* Called once, when attached. */
	void (*begun)(void *context);
	/* Called after each wait. */
	void (*looked)(void *context);
	void *context;
};

struct job_times {
	const struct period *periods; /* one after the other */
	size_t period_count;          /* 0: PERIOD_ALWAYS */
	uint64_t duration_ns;         /* in all, without the time of attaching; UINT64_MAX */
	uint64_t max_bytes;           /* of the file; 0: no limit */
};

struct record_job {
	struct recorder *recorder; /* opened, and owned by the caller */
	struct job_times times;
	struct job_watcher watcher;
	bool unload; /* unmap everything on detach */

	/* The result. */
	enum ending ending;
	bool is_full;      /* max_bytes has been reached */
	uint64_t turns;    /* how often recording has begun */
	uint64_t begin_ns; /* when it began, plus the time that attaching took */

	bool is_over, is_ready; /* internal to the job */
};

/* Runs all its periods, until an event ends the job. */
int record_job_run(struct record_job *job, struct err *err) MUST_CHECK;

/* The same in parallel to the caller, on a thread that blocks all signals. */
struct background_job;

struct background_options {
	struct recorder_options recorder;
	struct job_times times;
	bool unload;
};

struct background_state {
	bool is_running; /* false: it has ended by itself, background_job_stop() returns how */
	bool has_ended;  /* no process is left */
	bool is_full;
	enum ending ending;
	uint64_t turns;
	struct sampling_totals sampled;
	struct tracing_totals traced;
	uint64_t bytes; /* of the file, so far */
	struct err err; /* what ended it; code 0: no error */
};

/* Returns when it is attached, or waits for its first period; on failure nothing of it remains.
 * What the options point to must outlive it; the thread calls its listeners. */
int background_job_start(struct background_job **ret, const struct background_options *options,
			 struct err *err) MUST_CHECK;
void background_job_query(struct background_job *job, struct background_state *ret);
/* What the sampled Python knows of a thread; false: nothing. */
bool background_job_python_thread(struct background_job *job, pid_t pid, pid_t tid,
				  struct watched_thread *ret);
/* Ends it if it still runs: detaches; background_job_query() then returns the final state. */
void background_job_halt(struct background_job *job);
/* Halts it, finishes the file (not with gives_up), and frees it.  `ret` is set also when it
 * fails. */
int background_job_stop(struct background_job *job, bool gives_up, struct recorder_outcome *ret,
			struct err *err) MUST_CHECK;

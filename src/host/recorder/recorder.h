/*
 * Traces and samples processes into .limpet files: whom and what.  When is record_job.h's.
 *
 *   recorder_open, recorder_begin, (recorder_check now and then), recorder_pause, recorder_begin,
 *   ..., recorder_end
 *
 * One process, several, or their whole families; in one file, or in one for each that is traced.
 * One thread calls; listeners are called by that thread.
 */
#pragma once

#include "host/recorder/samples/sampling.h"
#include "host/recorder/tracing.h"
#include "host/recorder/windows/window_batch.h"

/* What is to be told while it goes on; any may be NULL. */
struct recorder_listener {
	/* This process is traced from now on, the first time. */
	void (*joined)(void *context, const struct tracing *tracing);
	/* One of a family could not be attached to. */
	void (*skipped)(void *context, pid_t pid, const struct err *err);
	/* Something stays behind in it, or it could not be left (code not 0). */
	void (*left)(void *context, pid_t pid, const struct session_left *left,
		     const struct err *err);
	/* All that this process did is in the file. */
	void (*ended)(void *context, const struct tracing *tracing);
	void *context;
};

struct recorder_options {
	/* Whom. */
	const pid_t *pids;
	size_t pid_count;
	bool has_children;   /* their descendants too, also those born meanwhile */
	bool is_system_wide; /* samples of every process; where one is named, until it ends */
	struct session_options session; /* its doorstep is the first one's, its trace filled in */

	/* What.  Without sampling and counters something is traced. */
	struct trace_options trace;
	const struct sampling_options *sampling; /* NULL: no samples; its processes are filled in */

	const struct window_options *windows; /* NULL: no counters over time */

	/* Where to. */
	const char *path;    /* of the file; removed where nothing was ever begun, and an earlier
				recording of that name stays where nothing was recorded */
	bool is_path_new;    /* the file was made for this, and is empty: */
	int new_file;        /* its descriptor, the recorder's, also when it cannot be opened */
	const char *folder;  /* instead: a file for each process that is traced, without samples */
	const char *version; /* of limpet */
	/* Further variables of the targets' environments to keep in the file, for the names of what
	 * is made from it (name_rule.h); ends with NULL, may be NULL. */
	const char *const *variables;

	struct recorder_listener listener;
};

struct recorder;

/* Makes memory and file; touches nothing in the targets.  The options are copied, what they point
 * to must outlive the recorder. */
int recorder_open(struct recorder **ret, const struct recorder_options *options,
		  struct err *err) MUST_CHECK;

/* Attaches, and records from then on.  Of a family at least one must be attached, of several
 * processes each, the first time; later those that have ended are left out. */
int recorder_begin(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Detaches; what was recorded stays. */
int recorder_pause(struct recorder *recorder, bool unload, struct err *err) MUST_CHECK;

/* 0 while the files can be written; follows what happens to the processes. */
int recorder_check(struct recorder *recorder, struct err *err) MUST_CHECK;
/* Should that be called often? */
bool recorder_is_following(struct recorder *recorder);
/* Says POLLRDHUP when it is due; -1: there is no such one. */
int recorder_socket(struct recorder *recorder);

/* Is there nobody left to record? */
bool recorder_has_ended(struct recorder *recorder);
/* Readable when there is not, where one descriptor can tell; -1: ask now and then. */
int recorder_end_fd(struct recorder *recorder);

void recorder_totals(struct recorder *recorder, struct tracing_totals *ret);
uint64_t recorder_file_bytes(struct recorder *recorder);

/* What is traced now, or was in the last period; false: no more.  Numbers from 0. */
const struct tracing *recorder_tracing(struct recorder *recorder, size_t index);
/* NULL: it takes no samples. */
struct sampling *recorder_sampling(struct recorder *recorder);

/* Takes what is left in the rings, and finds the names of what was sampled; totals are final then.
 */
int recorder_finish(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Lines: which counters are not counted, and why; "". */
const char *recorder_counter_reasons(const struct recorder *recorder);

struct recorder_outcome {
	struct tracing_totals totals;     /* of what was taken from the targets */
	struct recorded_contents written; /* what of it is in the file, or in all of them */
};

/* Finishes (not with gives_up) where that was not done, and writes the end.  `ret` is set also when
 * it fails. */
int recorder_end(struct recorder *recorder, bool gives_up, struct recorder_outcome *ret,
		 struct err *err) MUST_CHECK;

/* After the end, with a folder: by number, in the order in which they were attached. */
struct recorder_file {
	pid_t pid;
	const char *path;
	uint64_t records;
};
bool recorder_file(const struct recorder *recorder, size_t index, struct recorder_file *ret);

/* Gives up where it was not ended.  Files of a folder are removed unless they are to be kept. */
void recorder_free(struct recorder *recorder, bool keeps_files);

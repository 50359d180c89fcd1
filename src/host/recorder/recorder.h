/*
 * Traces and samples processes into .limpet files: which processes, and what of them.  record_job.h
 * decides when.
 *
 *   recorder_open, recorder_begin, (recorder_check now and then), recorder_pause, recorder_begin,
 *   ..., recorder_end
 *
 * One process, several, or their whole families; in one file, or in one for each traced process.
 * One thread makes all calls; it also calls the listeners.
 */
#pragma once

#include "host/recorder/samples/sampling.h"
#include "host/recorder/tracing/tracing.h"
#include "host/recorder/windows/windows.h"

/* Callbacks for events; any may be NULL. */
struct recorder_listener {
	/* The process is traced from now on, for the first time. */
	void (*joined)(void *context, const struct tracing *tracing);
	/* A member of a family could not be attached. */
	void (*skipped)(void *context, pid_t pid, const struct err *err);
	/* Something stays mapped in the process, or detaching failed (code not 0). */
	void (*left)(void *context, pid_t pid, const struct session_left *left,
		     const struct err *err);
	/* The process's whole trace is in the file. */
	void (*ended)(void *context, const struct tracing *tracing);
	void *context;
};

struct recorder_options {
	/* The processes. */
	const pid_t *pids;
	size_t pid_count;
	bool has_children;   /* with descendants, also those that start later */
	bool is_system_wide; /* samples of every process; ends with the named process, if any */
	struct session_options session; /* doorstep: the first process's; trace is filled in */

	/* What to record.  Without sampling and counters, a trace is required. */
	struct trace_options trace;
	const struct sampling_options *sampling; /* NULL: no samples; the processes are filled in */

	const struct window_options *windows; /* NULL: no counters over time */

	/* The output; NULL: samples only go to sampling->observe, nothing is traced and there is no
	 * file. */
	const char *path; /* of the file; removed where nothing ever began, and an earlier recording
			     of that name stays where nothing was recorded */
	bool is_path_new; /* the file was created for this recording, and is empty: */
	int new_file;     /* its descriptor, owned by the recorder even if it fails to open */
	const char *folder;  /* instead: a file for each traced process, without samples */
	const char *version; /* of limpet */
	/* Further variables of the targets' environments to keep in the file, for the names of
	 * exported files (name_rule.h); ends with NULL, may be NULL. */
	const char *const *variables;

	struct recorder_listener listener;
};

struct recorder;

/* Makes memory and file; changes nothing in the targets.  The options are copied, what they point
 * to must outlive the recorder. */
int recorder_open(struct recorder **ret, const struct recorder_options *options,
		  struct err *err) MUST_CHECK;

/* Attaches and starts recording.  Of a family at least one process must attach, of several named
 * processes each, on the first start; later those that have ended are skipped. */
int recorder_begin(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Detaches; the recorded data stays. */
int recorder_pause(struct recorder *recorder, bool unload, struct err *err) MUST_CHECK;

/* Handles events of the processes.  0 while the files can be written. */
int recorder_check(struct recorder *recorder, struct err *err) MUST_CHECK;
/* True while recorder_check() should be called often. */
bool recorder_is_following(struct recorder *recorder);
/* Has POLLRDHUP when recorder_check() is due; -1: there is none. */
int recorder_socket(struct recorder *recorder);

/* True when no process is left to record. */
bool recorder_has_ended(struct recorder *recorder);
/* Readable when no process is left, if one descriptor can show that; -1: poll
 * recorder_has_ended(). */
int recorder_end_fd(struct recorder *recorder);

void recorder_totals(struct recorder *recorder, struct tracing_totals *ret);
uint64_t recorder_file_bytes(struct recorder *recorder);

/* What is traced now, or was in the last period; false: no more.  Numbers from 0. */
const struct tracing *recorder_tracing(struct recorder *recorder, size_t index);
/* NULL: there are no samples. */
struct sampling *recorder_sampling(struct recorder *recorder);

/* Drains the rings, and resolves the names of samples; totals are final then. */
int recorder_finish(struct recorder *recorder, struct err *err) MUST_CHECK;

/* Lines: which counters are missing, and why; "". */
const char *recorder_counter_reasons(const struct recorder *recorder);

struct recorder_outcome {
	struct tracing_totals totals;     /* of what was read from the targets */
	struct recorded_contents written; /* what of it is in the file, or in all files */
};

/* Finishes (not with gives_up) if that was not done, and writes the end.  `ret` is set also when it
 * fails. */
int recorder_end(struct recorder *recorder, bool gives_up, struct recorder_outcome *ret,
		 struct err *err) MUST_CHECK;

/* After the end, with a folder: by number, in the order of attaching. */
struct recorder_file {
	pid_t pid;
	const char *path;
	uint64_t records;
};
bool recorder_file(const struct recorder *recorder, size_t index, struct recorder_file *ret);

/* Gives up if the recording was not ended.  Removes files in a folder unless keeps_files. */
void recorder_free(struct recorder *recorder, bool keeps_files);

/*
 * Private to the recorder*.c files: the traced processes, and the files.
 */
#pragma once

#include "host/recorder/recorder.h"
#include "host/recorder/syscalls/syscall_tracing.h"
#include "host/recorder/windows/windows.h"
#include "host/session/tree/tree.h"

#include <pthread.h>

/* A file under way. */
struct recorder_output {
	struct recording *recording;
	struct programs programs;
	char *path;
	bool is_unused; /* nothing recorded yet, and not a file that existed before */
	bool is_ended;
	struct recorded_contents written; /* after its end */
};

enum traced_state {
	TRACED_OUT,   /* not attached; may be attached again */
	TRACED_TRIED, /* a thread of the tree is attaching */
	TRACED_IN,
	TRACED_OVER,  /* it has ended, or runs another program */
	TRACED_ENDED, /* its whole trace is in the file */
};

/* One traced process, or one of its programs where a tree follows. */
struct traced {
	pid_t pid;
	enum traced_state state;
	bool was_in, is_reported;       /* is_reported: the listener knows of it */
	struct recorder_output *output; /* the recorder's, or: */
	struct recorder_output own;     /* with a folder */
	struct tracing *tracing;        /* until it has ended */
	struct traced *next;
};

/* An event noted by a thread of a tree, until the recorder's own thread reports it. */
struct noted_event {
	pid_t pid;
	bool is_skipped;
	struct err err;
	struct session_left left;
	struct noted_event *next;
};

/* One named process, with its family if that is wanted. */
struct root {
	pid_t pid;
	int pidfd;
	struct tree *tree; /* NULL: a single process, or not attached now */
};

struct recorder {
	struct recorder_options given;
	struct tracing_options tracing;
	struct sampling_options sampled;
	struct root *roots;
	size_t root_count;
	pid_t *pids; /* the living ones, for the sampler */
	bool traces; /* by an agent in the processes */
	bool has_begun, is_finished;
	struct recorder_output output; /* unless there is a folder */
	struct sampling *sampling;
	struct syscall_tracing *syscalls; /* NULL: not requested, or totalled already */
	struct cpu_windows *cpu_windows;  /* NULL: not requested */
	struct device_windows *device_windows;
	struct gpu_windows *gpu_windows;
	struct tracing_totals earlier; /* of those that have ended */

	pthread_mutex_t lock;  /* guards what follows against the trees' threads */
	struct traced *traced; /* in the order of their arrival */
	unsigned file_count;
	struct noted_event *events; /* in order */
};

/* Creates the file, with all that precedes the first process.  Owns new_file (-1: none). */
int recorder_output_open(struct recorder_output *ret, const struct recorder *recorder,
			 const char *path, int new_file, struct err *err) MUST_CHECK;
/* Writes the end, but not after a failure r, and closes the file; returns r, or its own failure. */
int recorder_output_end(struct recorder_output *output, const struct collect_totals *totals,
			bool gives_up, int r, struct err *err) MUST_CHECK;
/* Reads what its processes use, when that is due. */
int recorder_output_check(struct recorder_output *output, struct err *err) MUST_CHECK;
uint64_t recorder_output_bytes(const struct recorder_output *output);
/* Zero is allowed. */
void recorder_output_done(struct recorder_output *output);

/* Chooses the living ones into recorder->pids; the first of all where none lives, for the error. */
size_t roots_choose_living(struct recorder *recorder);
void roots_choose_sampled(struct recorder *recorder);

/* Adds a process to the list, with its own file where it has one. */
struct traced *traced_add(struct recorder *recorder, pid_t pid, struct err *err);
/* The current process with that number, not its predecessors; NULL. */
struct traced *traced_find(struct recorder *recorder, pid_t pid);
void traced_free(struct traced *traced, bool keeps_file);
void traced_set(struct recorder *recorder, struct traced *traced, enum traced_state state);
enum traced_state traced_state(struct recorder *recorder, const struct traced *traced);
/* The first that was ever attached, and those after it; NULL: no more.  Only traced_end() removes
 * them from the list. */
struct traced *traced_next(struct recorder *recorder, struct traced *after);
/* Drains the rings, and calls the listener. */
int traced_end(struct recorder *recorder, struct traced *traced, bool gives_up,
	       struct err *err) MUST_CHECK;

/* Attaches to a root and its family. */
int family_begin(struct recorder *recorder, struct root *root, struct err *err) MUST_CHECK;
int family_pause(struct recorder *recorder, struct root *root, bool unload,
		 struct err *err) MUST_CHECK;
/* Calls the listener for the events that the trees' threads have noted, and for new processes. */
void family_report(struct recorder *recorder, const struct recorder_listener *listener);

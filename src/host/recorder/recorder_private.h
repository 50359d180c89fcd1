/*
 * Private to the recorder*.c files: the processes that are traced, and the files.
 */
#pragma once

#include "host/recorder/recorder.h"
#include "host/recorder/syscalls/syscall_tracing.h"
#include "host/recorder/usage_watch.h"
#include "host/recorder/windows/cpu_windows.h"
#include "host/recorder/windows/device_windows.h"
#include "host/recorder/windows/gpu_windows.h"
#include "host/session/tree/tree.h"

#include <pthread.h>

/* A file under way. */
struct recorder_output {
	struct recording *recording;
	struct programs programs;
	struct usage_watch usage;
	char *path;
	bool is_unused; /* nothing was recorded into it yet, and nothing lies there otherwise */
	bool is_ended;
	struct recorded_contents written; /* after its end */
};

enum traced_state {
	TRACED_OUT,   /* not attached; may be attached again */
	TRACED_TRIED, /* a thread of the tree has it */
	TRACED_IN,
	TRACED_OVER,  /* it has ended, or runs another program */
	TRACED_ENDED, /* all that it did is in the file */
};

/* One process that is traced, or one program of it where a tree follows. */
struct traced {
	pid_t pid;
	enum traced_state state;
	bool was_in, is_told;           /* told: to the listener */
	struct recorder_output *output; /* the recorder's, or: */
	struct recorder_output own;     /* with a folder */
	struct tracing *tracing;        /* until it has ended */
	struct traced *next;
};

/* What threads of a tree have to tell, until the recorder's own thread tells it. */
struct told_later {
	pid_t pid;
	bool is_skipped;
	struct err err;
	struct session_left left;
	struct told_later *next;
};

/* One that was named, with its family where that is wanted. */
struct root {
	pid_t pid;
	int pidfd;
	struct tree *tree; /* NULL: it is attached by itself, or not now */
};

struct recorder {
	struct recorder_options given;
	struct tracing_options tracing;
	struct sampling_options sampled;
	struct root *roots;
	size_t root_count;
	pid_t *pids; /* of those that live, for the sampler */
	bool traces; /* by an agent in them */
	bool has_begun, is_finished;
	struct recorder_output output; /* without a folder */
	struct sampling *sampling;
	struct syscall_tracing *syscalls; /* NULL: not asked for, or added up */
	struct cpu_windows *cpu_windows;  /* NULL: not asked for */
	struct device_windows *device_windows;
	struct gpu_windows *gpu_windows;
	struct tracing_totals earlier; /* of those that have ended */
	struct recorded_contents written;

	pthread_mutex_t lock;  /* of what follows: the trees' threads come here */
	struct traced *traced; /* in the order in which they came */
	unsigned file_count;
	struct told_later *later; /* in this order */
};

/* Begins the file, with all that comes before the first process.  new_file is taken (-1: none). */
int recorder_output_open(struct recorder_output *ret, const struct recorder *recorder,
			 const char *path, int new_file, struct err *err) MUST_CHECK;
/* NULL: without an end, as a failure leaves it. */
int recorder_output_end(struct recorder_output *output, const struct recorded_end *end,
			struct err *err) MUST_CHECK;
/* Looks at what its processes use, now and then. */
int recorder_output_check(struct recorder_output *output, struct err *err) MUST_CHECK;
uint64_t recorder_output_bytes(const struct recorder_output *output);
/* Also for zero. */
void recorder_output_done(struct recorder_output *output);

struct recorded_end recorder_end_of(const struct collect_totals *totals, bool gives_up);

/* Those that live, in recorder->pids; the first of all where none does, for the error. */
size_t roots_choose_living(struct recorder *recorder);
void roots_choose_sampled(struct recorder *recorder);

/* With its file where it has one of its own; in the list. */
struct traced *traced_add(struct recorder *recorder, pid_t pid, struct err *err);
/* The one that is there now, not its predecessors of the same number; NULL. */
struct traced *traced_find(struct recorder *recorder, pid_t pid);
void traced_remove(struct recorder *recorder, struct traced *traced);
void traced_free(struct traced *traced, bool keeps_file);
void traced_set(struct recorder *recorder, struct traced *traced, enum traced_state state);
enum traced_state traced_state(struct recorder *recorder, const struct traced *traced);
/* The first that was ever attached, and those after it; NULL: no more.  They leave the list by
 * traced_end() only. */
struct traced *traced_next(struct recorder *recorder, struct traced *after);
/* Takes what is left, and tells the listener. */
int traced_end(struct recorder *recorder, struct traced *traced, bool gives_up,
	       struct err *err) MUST_CHECK;

/* Attaches to a root and its family. */
int family_begin(struct recorder *recorder, struct root *root, struct err *err) MUST_CHECK;
int family_pause(struct recorder *recorder, struct root *root, bool unload,
		 struct err *err) MUST_CHECK;
/* Tells the listener what the trees' threads have noted, and who has joined. */
void family_tell(struct recorder *recorder);
void family_forget(struct recorder *recorder);

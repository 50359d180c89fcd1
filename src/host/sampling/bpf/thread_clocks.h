/*
 * A clock for each thread of a process that runs a kernel program at every tick: perf events that
 * count the thread's own time, and that its children inherit.  Closing them ends them.
 */
#pragma once

#include "host/sampling/event.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define THREAD_CLOCKS_MAX 4096 /* with more threads, each processor gets a clock instead */

struct thread_clocks_options {
	pid_t pid;
	bool is_per_processor; /* one for each processor, for all processes */
	bool is_held;          /* those of processors do not tick until switched on */
	enum sampler_event event;
	uint64_t period_ns;
	bool is_inherited;    /* by threads started later */
	bool with_children;   /* and by processes */
	bool is_heir;         /* the process may have inherited clocks itself */
	int program;          /* the kernel program sample_running */
	int inherited_events; /* its map of inherited clocks */
	uint32_t *scans;      /* of all clocks, for threads that may have inherited some */
};

struct thread_clocks {
	struct thread_clocks_options options;
	int *descriptors;
	size_t count, room;
	pid_t *tids; /* with a clock, ascending */
	size_t tid_count;
	bool is_per_processor;
};

int thread_clocks_open(struct thread_clocks *ret, const struct thread_clocks_options *options,
		       struct err *err) MUST_CHECK;
/* The same for one thread only. */
int thread_clocks_open_one(struct thread_clocks *clocks, pid_t tid, struct err *err) MUST_CHECK;
void thread_clocks_switch(const struct thread_clocks *clocks, bool is_on);
void thread_clocks_close(struct thread_clocks *clocks);

/* Two slow preparations for the first clocks of threads, done in parallel to other work: the kernel
 * enables perf's hook for context switches, and grows the descriptor table; for both it waits until
 * all processors have noticed. */
struct clock_room {
	pid_t pid;
	pthread_t thread;
	bool is_running;
	int event; /* -1: none */
};

/* Returns at once.  A failure only makes the clocks slower to open. */
void clock_room_begin(struct clock_room *room, pid_t pid);
/* Waits until both are done. */
void clock_room_await(struct clock_room *room);
/* Called when the clocks are open. */
void clock_room_done(struct clock_room *room);

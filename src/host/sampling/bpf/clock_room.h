/*
 * Two slow preparations for the first clocks of threads, done in parallel to other work: the kernel
 * enables perf's hook for context switches, and grows the descriptor table; for both it waits until
 * all processors have noticed.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

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

/*
 * The state of the processes' threads, and each one's share of a processor since the last poll.
 */
#pragma once

#include "host/process/threads.h"

#include <stdbool.h>

struct live;
struct source;

/* Zero at first, but for never_ends. */
struct thread_watch {
	struct threads threads; /* of the last poll */
	uint64_t looked_ns;
	double *percents; /* of each; < 0: not known yet */
	uint64_t cpu_ns;  /* of all, including ended ones */
	double percent;   /* the same for all of them */
	bool never_ends;  /* polls all processes: others may start */
	bool has_ended;
};

/* Polls, and passes the names to the live store, those of the source's Python (NULL: none) first.
 * After the processes' end the last state stays. */
void thread_watch_poll(struct thread_watch *watch, struct live *live, struct source *source,
		       const pid_t *pids, size_t count);
/* They have ended: polls no more. */
void thread_watch_end(struct thread_watch *watch);
void thread_watch_done(struct thread_watch *watch);

/*
 * The state of the processes' threads, and each one's share of a processor since the last poll.
 */
#pragma once

#include "host/process/threads.h"
#include "host/recorder/samples/python_watch.h"

#include <stdbool.h>

struct live;
struct picture;

/* Finds a better name than the kernel's; find may be NULL. */
struct thread_namer {
	/* False: it has none of its own. */
	bool (*find)(void *context, pid_t pid, pid_t tid, struct watched_thread *ret);
	void *context;
};

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

/* Polls, and passes the names to the live model.  After the processes' end the last state stays. */
void thread_watch_look(struct thread_watch *watch, struct live *live,
		       const struct thread_namer *namer, const pid_t *pids, size_t count);
/* They have ended: polls no more. */
void thread_watch_end(struct thread_watch *watch);
/* Adds the threads of the last poll to a picture, including those without a sample.  0 or
 * -ENOMEM. */
int thread_watch_show(const struct thread_watch *watch, struct picture *picture) MUST_CHECK;
void thread_watch_done(struct thread_watch *watch);

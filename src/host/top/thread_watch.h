/*
 * What the threads of the processes do now, and how much of a processor each had since the last
 * look.
 */
#pragma once

#include "host/process/threads.h"
#include "host/recorder/samples/python_watch.h"

#include <stdbool.h>

struct live;
struct picture;

/* Who knows a better name than the kernel's; find may be NULL. */
struct thread_namer {
	/* False: it has none of its own. */
	bool (*find)(void *context, pid_t pid, pid_t tid, struct watched_thread *ret);
	void *context;
};

/* Zero at first, but for never_ends. */
struct thread_watch {
	struct threads threads; /* of the last look */
	uint64_t looked_ns;
	double *percents; /* of each; < 0: not known yet */
	uint64_t cpu_ns;  /* of all, also of those that have ended */
	double percent;   /* the same for all of them */
	bool never_ends;  /* every process is looked at: others may come */
	bool has_ended;
};

/* Looks, and tells the live model the names.  Where the processes have ended, what was seen stays.
 */
void thread_watch_look(struct thread_watch *watch, struct live *live,
		       const struct thread_namer *namer, const pid_t *pids, size_t count);
/* They have ended: nothing is looked at any more. */
void thread_watch_end(struct thread_watch *watch);
/* Puts the threads of the last look into a picture, those without a sample too.  0 or -ENOMEM. */
int thread_watch_show(const struct thread_watch *watch, struct picture *picture) MUST_CHECK;
void thread_watch_done(struct thread_watch *watch);

/*
 * The priority of a collecting thread.  While samples arrive it is above the threads that it
 * watches, or the ring would overflow next to many busy threads.  While a sampler starts it is not:
 * loading kernel programs takes some 40 ms, in which a realtime thread would stall other programs.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct priority {
	pid_t tid; /* 0: unchanged */
	bool is_realtime, has_short_turns;
	int policy, level, nice;
};

/* Raises that of the calling thread as far as allowed, and keeps the old one. */
void priority_raise(struct priority *ret);
/* Needs no right: gives the calling thread short time slices, which are scheduled sooner and delay
 * other programs less (Linux 6.12).  Only for a thread with an ordinary policy. */
void priority_shorten_turns(struct priority *ret);
/* Undoes either.  From any thread. */
void priority_restore(struct priority *priority);

/*
 * How threads spent their time between looks at them, as the kernel counts it: a state alone does
 * not tell, for who is found runnable may be waiting for a processor, and who is found asleep may
 * have run in between.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/process/schedstat.h"

#include <stdbool.h>

struct thread_time {
	pid_t pid, tid;
	uint64_t seen_ns;               /* the last look */
	struct schedstat last;          /* as read then */
	uint64_t owed_ns[SAMPLE_KINDS]; /* that no sample has told of yet */
	int64_t unexplained_ns;         /* slept, or waits for a processor still */
	char state;                     /* at the last look */
};

/* Zero is empty. */
struct thread_times {
	struct thread_time *items; /* ascending tids */
	size_t count, room;
};

/* NULL: it was not looked at before.  Pointers hold until one is added or removed. */
struct thread_time *thread_times_find(const struct thread_times *times, pid_t tid);
/* What it has spent so far is nobody's business; NULL: no memory. */
struct thread_time *thread_times_add(struct thread_times *times, const struct thread_time *first);
/* Removes all that were not looked at since; hands out each before. */
void thread_times_sweep(struct thread_times *times, uint64_t since_ns,
			void (*gone)(void *context, struct thread_time *time), void *context);
void thread_times_done(struct thread_times *times);

/* A look, in that state: what has passed since the last one is owed. */
void thread_time_look(struct thread_time *time, const struct schedstat *now, uint64_t now_ns,
		      char state);
/* There will be no other look: nothing stays unexplained. */
void thread_time_end(struct thread_time *time);

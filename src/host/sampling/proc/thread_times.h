/*
 * How threads spent their time between polls, by the kernel's counters: a state alone does not show
 * that, for a runnable thread may be waiting for a processor, and a sleeping one may have run in
 * between.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/process/stat.h"

struct thread_time {
	pid_t pid, tid;
	uint64_t seen_ns;               /* the last poll */
	struct schedstat last;          /* as read then */
	uint64_t owed_ns[SAMPLE_KINDS]; /* not in a sample yet */
	int64_t unexplained_ns;         /* slept, or still waits for a processor */
	char state;                     /* at the last poll */
};

/* Zero is empty. */
struct thread_times {
	struct thread_time *items; /* ascending tids */
	size_t count, room;
};

/* NULL: not polled before.  Pointers are valid until one is added or removed. */
struct thread_time *thread_times_find(const struct thread_times *times, pid_t tid);
/* Time spent before counts for no sample; NULL: no memory. */
struct thread_time *thread_times_add(struct thread_times *times, const struct thread_time *first);
/* Removes all that were not polled since; passes each to `gone` before. */
void thread_times_sweep(struct thread_times *times, uint64_t since_ns,
			void (*gone)(void *context, struct thread_time *time), void *context);
void thread_times_done(struct thread_times *times);

/* A poll, in that state: the time since the last one is owed. */
void thread_time_poll(struct thread_time *time, const struct schedstat *now, uint64_t now_ns,
		      char state);
/* The last poll: no time stays unexplained. */
void thread_time_end(struct thread_time *time);

/*
 * Counters of threads: one for each thread and event.  Nothing is loaded into the target, nothing
 * in it is stopped; closing is all of detaching.
 */
#pragma once

#include "host/counters/count.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* Which descendants of a thread its counters include. */
enum counter_heirs {
	HEIRS_NONE,
	HEIRS_THREADS,   /* threads that it starts, and they */
	HEIRS_PROCESSES, /* and processes */
};

struct counter {
	int fd; /* -1: none */
	struct counter_reading now;
	struct counter_reading before; /* at the beginning of the interval */
};

struct counter_thread {
	pid_t pid, tid;
	char name[32];
	bool has_ended;
	struct counter *counters; /* as many as there are events */
};

/* The kernel's answer for an event. */
struct counter_answer {
	int refusal;       /* 0, or -errno: it has no counters */
	bool is_user_only; /* the kernel's side may not be counted */
	bool is_alone;     /* its group has no room for it */
};

/* Threads that ended and have no counters of their own any more. */
struct counter_folded {
	struct counter_sum all, interval;
};

struct counter_set {
	const struct counter_events *events;
	enum counter_heirs heirs;
	bool software_only;
	struct counter_answer answers[COUNTER_EVENTS_MAX];
	struct counter_thread *threads;
	size_t count, room;
	struct counter_folded folded[COUNTER_EVENTS_MAX];
	size_t folded_count; /* threads */
};

void counter_set_init(struct counter_set *ret, const struct counter_events *events,
		      enum counter_heirs heirs);

/* Opens counters for a thread, disabled.  0 also if an event is refused, see answers[]; -ESRCH: it
 * has ended, err is not set; -EMFILE and the like: no event can be opened. */
int counter_set_add(struct counter_set *set, pid_t pid, pid_t tid, struct err *err) MUST_CHECK;

void counter_set_switch(struct counter_set *set, bool is_on);
void counter_thread_switch(const struct counter_set *set, const struct counter_thread *thread,
			   bool is_on);

/* Reads all counters. */
void counter_set_read(struct counter_set *set);
/* For the last time: its descriptors go. */
void counter_thread_end(const struct counter_set *set, struct counter_thread *thread);
/* Where more than so many have ended, the first half of these becomes one sum. */
void counter_set_fold(struct counter_set *set, size_t most);
/* Begins an interval at the last reading. */
void counter_set_turn(struct counter_set *set);

/* Forgets its threads and answers. */
void counter_set_clear(struct counter_set *set);
void counter_set_done(struct counter_set *set);

/* Do any of its threads have this one? */
bool counter_set_has(const struct counter_set *set, size_t event);

/* Of one thread, or of all where it is NULL; since the interval began, or since the counting did.
 */
struct count counter_set_count(const struct counter_set *set, const struct counter_thread *thread,
			       size_t event, bool is_interval);

/* Of those folded into one sum. */
struct count counter_set_count_folded(const struct counter_set *set, size_t event,
				      bool is_interval);

/* The attributes for an event; a leader waits to be switched on, others follow it. */
struct perf_event_attr counter_attr(const struct counter_event *event, enum counter_heirs heirs,
				    bool is_user_only, bool is_leader);

/* Can counters be handed on to threads, but not to processes?  Since Linux 5.13. */
bool counter_can_keep_to_threads(void);

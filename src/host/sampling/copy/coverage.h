/*
 * Events for all threads of a process, each thread once.  A thread started while they are opened
 * may get two, an inherited one and its own, and its children inherit both.  It is not known which
 * threads these are; so, once there may be one, only the event counts that delivers a thread's
 * first record.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"

struct owned {
	pid_t tid, owner; /* owner: the event that counts was opened for it */
};

struct coverage {
	bool has_doubt;
	struct owned *items; /* ascending tids; all with records since then */
	size_t count, room;
};

/* Opens events for each thread of the process; is_heir: it may have inherited some itself. */
int coverage_open(struct coverage *coverage, struct perf_events *events, pid_t pid, bool is_heir,
		  struct err *err) MUST_CHECK;
/* False: this sample of the thread is its other event's. */
bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id);
/* The thread has ended, or starts: its number may be reused. */
void coverage_forget(struct coverage *coverage, pid_t tid);
void coverage_done(struct coverage *coverage);

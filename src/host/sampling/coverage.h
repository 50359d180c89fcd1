/*
 * Events for all threads of a process, each thread once.  A thread that is born while they are
 * opened may get two: one that it inherits and its own.  Of these the first one that is heard of
 * counts.
 */
#pragma once

#include "host/sampling/perf_events.h"

struct coverage {
	struct doubtful {
		pid_t tid, owner; /* owner 0: not heard of yet */
	} * items;
	size_t count, room;
};

/* Opens events for each thread of the process; is_heir: it may have inherited some itself. */
int coverage_open(struct coverage *coverage, struct perf_events *events, pid_t pid, bool is_heir,
		  struct err *err) MUST_CHECK;
/* False: this sample of the thread came by its other event. */
bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id);
/* The thread has ended: its number may be another's now. */
void coverage_forget(struct coverage *coverage, pid_t tid);
void coverage_done(struct coverage *coverage);

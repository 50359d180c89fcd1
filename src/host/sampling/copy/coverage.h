/*
 * Events for all threads of a process, each thread once.  A thread that is born while they are
 * opened may get two, one that it inherits and its own, and whoever is born of it inherits both.
 * Which threads these are is not known; so, once there may be one, of each thread the event counts
 * that is heard of first.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"

struct coverage {
	bool has_doubt;
	struct owned {
		pid_t tid, owner; /* for whom the event was opened that counts */
	} * items;                /* ascending tids; all that were heard of since there is doubt */
	size_t count, room;
};

/* Opens events for each thread of the process; is_heir: it may have inherited some itself. */
int coverage_open(struct coverage *coverage, struct perf_events *events, pid_t pid, bool is_heir,
		  struct err *err) MUST_CHECK;
/* False: this sample of the thread came by its other event. */
bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id);
/* The thread has ended, or begins: its number may have been another's. */
void coverage_forget(struct coverage *coverage, pid_t tid);
void coverage_done(struct coverage *coverage);

/*
 * Chooses the thread to stop.  A thread in a wait is not delayed by the stop; among these, the ones
 * whose wait the kernel itself restarts come first.
 */
#pragma once

#include "host/attach/facts/target.h"

struct candidate {
	pid_t tid;
	pid_t inner_tid;  /* in the target's numbers */
	unsigned rank;    /* lower is better */
	bool has_filters; /* seccomp; each thread may have its own */
	bool is_unlike;   /* its rights or filters differ from the first thread's */
	struct blocked_call call;
};

#define CANDIDATES_MAX 16

struct candidates {
	struct candidate items[CANDIDATES_MAX]; /* best first */
	size_t count;
	bool are_alike; /* all threads have the same filters */
};

/* must_wait: only threads in a call that libc never makes under a lock of its own (musl). */
int candidates_find(const struct target *target, bool must_wait, struct candidates *ret,
		    struct err *err) MUST_CHECK;

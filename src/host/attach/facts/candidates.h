/*
 * Which thread to stop.  A thread that waits anyway does not notice the pause; among those, the
 * ones whose wait the kernel itself restarts come first.
 */
#pragma once

#include "host/attach/target.h"

struct candidate {
	pid_t tid;
	pid_t inner_tid;  /* as the target counts it */
	unsigned rank;    /* lower is better */
	bool has_filters; /* seccomp; each thread may have its own */
	bool is_unlike;   /* it has other rights or filters than the program's first thread */
	struct blocked_call call;
};

#define CANDIDATES_MAX 16

struct candidates {
	struct candidate items[CANDIDATES_MAX]; /* best first */
	size_t count;
	bool are_alike; /* all threads of the process, as far as filters go */
};

/* must_wait: only threads in a call that libc never makes under a lock of its own (musl). */
int candidates_find(const struct target *target, bool must_wait, struct candidates *ret,
		    struct err *err) MUST_CHECK;

/*
 * /proc/PID/task/TID/schedstat: how long a thread has run, and has wanted to.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

struct schedstat {
	uint64_t run_ns;  /* on a processor */
	uint64_t wait_ns; /* in a queue for one, up to the last time that it got one */
	uint64_t turns;   /* how often it got one */
};

int schedstat_parse(const char *text, size_t size, struct schedstat *ret) MUST_CHECK;
/* -ENOENT: the thread has ended, or the kernel has no such statistics. */
int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret) MUST_CHECK;

/*
 * The usage of a process as a whole: processor time, memory, threads.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

struct process_usage {
	uint64_t cpu_ns; /* of all threads, including ended ones */
	uint64_t rss_bytes;
	uint32_t threads;
};

/* 0, or -ESRCH: it has ended. */
int process_usage_read(pid_t pid, struct process_usage *ret) MUST_CHECK;

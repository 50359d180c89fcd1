/*
 * /proc/PID/stat (or of one thread) as values: those that are not in status.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_stat {
	char name[32];
	char state;
	pid_t parent;
	pid_t session; /* the process that began its session, or 0 */
	bool is_kernel_thread;
	bool is_kernel_worker; /* of one thread: see stat_worker_flags() */
	bool is_exiting;       /* it has begun to end */
	uint64_t cpu_ns;       /* user and system time so far */
	uint64_t start_tick; /* when it began, in clock ticks since boot: a pid with another one is
				another process */
};

/* The flags of threads that the kernel has made in a process for itself, for io_uring and vhost: no
 * instruction of the program runs there, ptrace cannot stop them, and the kernel makes and ends
 * them at any time.  0: the kernel has none. */
uint32_t stat_worker_flags(void);

int stat_parse(const char *text, size_t size, struct process_stat *ret, struct err *err) MUST_CHECK;
/* tid 0: the sum of all threads. */
int stat_read(pid_t pid, pid_t tid, struct process_stat *ret, struct err *err) MUST_CHECK;

/* /proc/PID/task/TID/schedstat: how long a thread has run, and has wanted to. */
struct schedstat {
	uint64_t run_ns;  /* on a processor */
	uint64_t wait_ns; /* in a queue for one, up to the last time that it got one */
	uint64_t turns;   /* how often it got one */
};

int schedstat_parse(const char *text, size_t size, struct schedstat *ret) MUST_CHECK;
/* -ENOENT: the thread has ended, or the kernel has no such statistics. */
int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret) MUST_CHECK;

/* The usage of a process as a whole. */
struct process_usage {
	uint64_t cpu_ns; /* of all threads, including ended ones; from the process's clock, as stat
			    counts ticks of 10 ms, which a curve of short steps would show as spikes
			  */
	uint64_t rss_bytes;
	uint32_t threads;
};

/* 0, or -ESRCH: it has ended. */
int process_usage_read(pid_t pid, struct process_usage *ret) MUST_CHECK;

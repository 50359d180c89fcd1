/*
 * Forks by the kernel's own counting: /proc/loadavg ends with the last number given out, so one
 * short read shows whether any process was started since, and which numbers it can have.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define NUMBERS_ABSENT_MAX 64

struct process_numbers {
	int fd; /* /proc/loadavg; -1: closed */
	pid_t last;
	/* Given out, but not visible yet: a process gets its number before /proc shows it. */
	struct {
		pid_t pid;
		uint64_t until_ns;
	} absent[NUMBERS_ABSENT_MAX];
	size_t absent_count;
};

/* -ENOTSUP where the file is not the kernel's own (some containers have it made up). */
int process_numbers_open(struct process_numbers *ret) MUST_CHECK;

/* Called with each number given out since, to a process or to a thread.  False: no process with
 * this number is visible (yet). */
typedef bool numbers_visitor(pid_t pid, void *context);

/* -EOVERFLOW when too many were given out to check each. */
int process_numbers_poll(struct process_numbers *numbers, numbers_visitor *visit,
			 void *context) MUST_CHECK;

void process_numbers_close(struct process_numbers *numbers);

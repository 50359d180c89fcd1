/*
 * How often threads get a processor.  A thread's clock is armed anew each time: where that is
 * often, a clock for each processor costs less.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define SWITCH_RATE_HIGH 10000u /* per second; arming a thread's clock costs some microseconds */

struct thread_turns {
	pid_t tid;
	uint64_t turns, stands_for; /* stands_for: this many threads */
};

/* Zero is: no reading yet. */
struct switch_rate {
	struct thread_turns *items; /* ascending tids, of the last reading */
	size_t count, room;
	uint64_t looked_ns;
};

/* Switches per second since the last reading, of the threads of these processes that existed at
 * both; 0 at the first, and where the kernel does not count them.  Of many threads a part is
 * read. */
uint64_t switch_rate_read(struct switch_rate *rate, const pid_t *pids, size_t count);
void switch_rate_done(struct switch_rate *rate);

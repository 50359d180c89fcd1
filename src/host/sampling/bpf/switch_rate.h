/*
 * How often threads get a processor.  A clock of a thread is set anew each time: where that is
 * often, a clock for each processor costs less.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

#define SWITCH_RATE_HIGH 10000u /* in a second; a thread's clock costs some microseconds each */

struct thread_turns {
	pid_t tid;
	uint64_t turns, stands_for; /* so many threads */
};

/* Zero is: not looked yet. */
struct switch_rate {
	struct thread_turns *items; /* ascending tids, of the last look */
	size_t count, room;
	uint64_t looked_ns;
};

/* Switches in a second since the last look, of all threads of these processes that were there at
 * both; 0 at the first, and where the kernel does not tell.  Of many threads some are looked at. */
uint64_t switch_rate_look(struct switch_rate *rate, const pid_t *pids, size_t count);
void switch_rate_done(struct switch_rate *rate);

/*
 * Converts times between ticks of the machine's counter, as records have, and nanoseconds.
 */
#pragma once

#include "shared/arch/ticks.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Set for ever once a thread of the target is about to lose the right to read the counter (strict
 * seccomp, PR_SET_TSC): reading it would then kill the thread. thunk.S reads this variable, too. A
 * thread's own state cannot be read without a system call, so no thread reads the counter from then
 * on.
 */
extern uint32_t clock_is_forbidden;

/* False: do not write records, and do not call the functions below. */
static inline bool clock_may_be_read(void)
{
	return !__atomic_load_n(&clock_is_forbidden, __ATOMIC_RELAXED);
}

/* Returns 0 if the counter must not be read. */
static inline uint64_t clock_ticks(void)
{
	return clock_may_be_read() ? ticks_now() : 0;
}

/* Forbids the counter if the thread that created limpet's threads had lost it before the attach. */
void clock_check(void);

/* Called at the begin of a session, long before the first conversion. Checks, too. */
void clock_start(void);

/* Reads both clocks; two system calls, seldom more. */
struct clock_rate {
	uint64_t ticks, ns;
	int64_t rate;
};
struct clock_rate clock_now(void);

/* Like clock_now(), but some milliseconds old at most: for frequent callers. `kept` belongs to one
 * caller, and is zero at first. */
struct clock_rate clock_recent(struct clock_rate *kept);

/* Convert between a time of CLOCK_BOOTTIME, at most minutes ago, and ticks. */
uint64_t clock_ticks_at(const struct clock_rate *now, uint64_t boot_ns);
uint64_t clock_ns_at(const struct clock_rate *now, uint64_t ticks);

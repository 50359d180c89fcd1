/*
 * Moments that others tell in nanoseconds, as records tell them.
 */
#pragma once

#include "shared/arch/ticks.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Set for ever once the program has had the counter taken away from one of its threads (strict
 * seccomp, PR_SET_TSC): reading it would kill.  thunk.S looks here, too.  By thread it cannot be
 * told without a system call, so nobody reads it any more.
 */
extern uint32_t clock_is_forbidden;

/* False: nothing is to be written, and nothing below is to be called. */
static inline bool clock_may_be_read(void)
{
	return !__atomic_load_n(&clock_is_forbidden, __ATOMIC_RELAXED);
}

/* 0: it must not be read. */
static inline uint64_t clock_ticks(void)
{
	return clock_may_be_read() ? ticks_now() : 0;
}

/* At the beginning of a session, long before the first question.  Finds out whether the thread that
 * ours were made by had lost the counter before we came. */
void clock_start(void);

/* Both clocks now; makes two system calls, seldom more. */
struct clock_rate {
	uint64_t ticks, ns;
	int64_t rate;
};
struct clock_rate clock_now(void);

/* The same, as it was some milliseconds ago at most: for who asks often.  `kept` is his alone, and
 * zero at first. */
struct clock_rate clock_recent(struct clock_rate *kept);

/* Ticks of the machine's counter at that moment of CLOCK_BOOTTIME, not longer ago than minutes; and
 * the other way round. */
uint64_t clock_ticks_at(const struct clock_rate *now, uint64_t boot_ns);
uint64_t clock_ns_at(const struct clock_rate *now, uint64_t ticks);

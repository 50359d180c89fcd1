/*
 * Moments that others tell in nanoseconds, as records tell them.
 */
#pragma once

#include <stdint.h>

/* At the beginning of a session, long before the first question. */
void clock_start(void);

/* Both clocks now; makes a system call, seldom more. */
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

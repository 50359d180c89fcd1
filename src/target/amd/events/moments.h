/*
 * Timestamps: the machine's counter, which is fast to read, converted to CLOCK_BOOTTIME for tools.
 */
#pragma once

#include "target/hooks/clock.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

/* The counter, or nanoseconds if the counter must not be read. */
static inline uint64_t moment_ticks(void)
{
	return clock_may_be_read() ? ticks_now() : kernel_clock_ns(CLOCK_BOOTTIME);
}

uint64_t moment_ns(uint64_t ticks);
uint64_t moment_now(void);
/* Only if the counter may be read. */
uint64_t moment_ticks_at(uint64_t ns);

/* Begin and end of an interval that ends now; the end is never before the begin. */
struct moments {
	uint64_t begin_ns, end_ns;
};
struct moments moments_of(uint64_t begin, uint64_t end);

/* In a forked child. */
void moments_adopt(void);

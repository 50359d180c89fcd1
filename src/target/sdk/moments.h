/*
 * When something happened: by the machine's counter, which is read fast, and by CLOCK_BOOTTIME,
 * which tools are told.
 */
#pragma once

#include "target/hooks/clock.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

/* The counter, or where that must not be read nanoseconds already. */
static inline uint64_t moment_ticks(void)
{
	return clock_may_be_read() ? ticks_now() : kernel_clock_ns(CLOCK_BOOTTIME);
}

uint64_t moment_ns(uint64_t ticks);
uint64_t moment_now(void);

/* Both ends of something, of which the latter is now; it is not before the other. */
struct moments {
	uint64_t begin_ns, end_ns;
};
struct moments moments_of(uint64_t begin, uint64_t end);

/* In a forked child. */
void moments_adopt(void);

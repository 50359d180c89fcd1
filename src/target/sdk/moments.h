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

/* Both ends of something short; the end is not before the beginning. */
void moments_convert(uint64_t begin, uint64_t end, uint64_t *ret_begin_ns, uint64_t *ret_end_ns);

/* In a forked child. */
void moments_adopt(void);

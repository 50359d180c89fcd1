/*
 * Moments that others tell in nanoseconds, as records tell them.
 */
#pragma once

#include <stdint.h>

/* At the beginning of a session, long before the first question. */
void clock_start(void);

/* Ticks of the machine's counter at that moment of CLOCK_BOOTTIME, not longer ago than minutes.
 * Makes a system call, seldom more. */
uint64_t clock_ticks_of(uint64_t boot_ns);

/* Ticks in so many nanoseconds, as fast as they were at the last question. */
uint64_t clock_ticks_in(uint64_t ns);

uint64_t clock_boot_ns(void);

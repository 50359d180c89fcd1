/*
 * Reads the kernel's clocks, and sleeps, by system calls: libc may be uninitialized, or in its
 * destructors.
 */
#pragma once

#include "shared/arch/syscall.h"

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a CLOCK_*; 0 if a filter forbids the call. */
static inline uint64_t kernel_clock_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	raw2(SYS_clock_gettime, clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return kernel_clock_ns(CLOCK_MONOTONIC);
}

/* For less than a second; shorter if a signal arrives. */
static inline void sleep_ns(long ns)
{
	struct timespec pause = { 0, ns };

	raw2(SYS_nanosleep, &pause, 0);
}

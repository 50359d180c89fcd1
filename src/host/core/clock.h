/*
 * The clocks of the host, in nanoseconds.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Sleeps; a signal ends it early. */
static inline void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) }, NULL);
}

/* Since the machine was started, sleep included: the clock of /proc and of recordings. */
static inline uint64_t boot_now_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

/* Processor time of the calling thread. */
static inline uint64_t thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

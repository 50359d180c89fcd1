/*
 * The machine's counter, which records are stamped with: the TSC on x86-64, the virtual counter on
 * aarch64.  Both run at one rate on all processors.
 */
#pragma once

#include <stdint.h>

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/* Ticks per second as the machine states them; 0 where only measuring tells. */
static inline uint64_t ticks_stated_hz(void)
{
#if defined(__x86_64__)
	return 0;
#else
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#endif
}

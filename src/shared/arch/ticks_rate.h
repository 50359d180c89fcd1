/*
 * How fast the machine's counter runs.
 */
#pragma once

#include <stdint.h>

/* Ticks per second as the machine states them; 0: they must be measured. */
static inline uint64_t ticks_stated_hz(void)
{
#if defined(__aarch64__)
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#else
	return 0;
#endif
}

/*
 * aarch64's part of shared/arch/ticks.h.
 */
#pragma once

static inline uint64_t ticks_now(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline char *thread_pointer(void)
{
	char *pointer;

	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
	return pointer;
}

static inline void spin_pause(void)
{
	__asm__ volatile("yield");
}

/*
 * x86-64's part of shared/arch/ticks.h.
 */
#pragma once

static inline uint64_t ticks_now(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline char *thread_pointer(void)
{
	char *pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline void spin_pause(void)
{
	__asm__ volatile("pause");
}

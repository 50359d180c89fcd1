/*
 * The machine's counter, as records carry it, and the thread pointer.  Neither needs a system call.
 *
 *   ticks_now()       x86-64: the time stamp counter; aarch64: the virtual counter
 *   thread_pointer()  what thread-local storage is found by
 *   spin_pause()      a short pause, for a wait for another processor
 *   ticks_stated_hz() ticks per second as the machine states them; 0: they must be measured
 */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
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

static inline uint64_t ticks_stated_hz(void)
{
	return 0;
}
#elif defined(__aarch64__)
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

static inline uint64_t ticks_stated_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#endif

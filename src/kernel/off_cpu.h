/*
 * Threads that are off-CPU, by TID; and the letter of their state.
 */
#pragma once

#include "kernel/base/maps.h"

MAP(off_cpu_threads, BPF_MAP_TYPE_HASH, 1, struct kernel_off_cpu);

/* As in /proc/PID/stat. */
ALWAYS_INLINE __u8 state_letter(__u32 state)
{
	if (state & TASK_INTERRUPTIBLE)
		return 'S';
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? 'I' : 'D';
	if (state & TASK_STOPPED)
		return 'T';
	if (state & TASK_TRACED)
		return 't';
	return state ? 'S' : 'R';
}

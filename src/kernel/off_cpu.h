/*
 * Threads that are off-CPU, by TID; and the letter of their state.
 */
#pragma once

#include "kernel/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_off_cpu);
} off_cpu_threads SEC(".maps");

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

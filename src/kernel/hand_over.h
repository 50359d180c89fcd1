/*
 * The end of a walk: its record goes to the host, as it is where code was met that is not known
 * yet.  A program may not wait for memory: where some is not there, the host goes on.
 */
#pragma once

#include "kernel/events.h"
#include "kernel/walk.h"

ALWAYS_INLINE void add_rest(struct walk *walk)
{
	__u64 at = walk->sample.kernel_count + walk->sample.user_count;

	BOUND(at, FRAMES_MASK);
	*(struct kernel_rest *)(walk->frames + at) = (struct kernel_rest){
		.pc = walk->pc,
		.sp = walk->sp,
		.fp = walk->fp,
		.lr = walk->lr,
		.is_exact = walk->is_exact,
		.is_sp_lost = walk->is_sp_lost,
	};
	walk->sample.flags |= KERNEL_REST;
	walk->sample.user_count += sizeof(struct kernel_rest) / sizeof(__u64);
}

ALWAYS_INLINE void hand_over(struct walk *walk, struct kernel_process *process, struct ids ids)
{
	if ((walk->unknown && ask_for_ranges(process, ids, walk->unknown)) || walk->is_for_host)
		take_raw(walk);
	else if (walk->sample.end == STACK_UNREADABLE && !walk->seeking)
		add_rest(walk);
	send(&walk->sample, record_size(walk));
}

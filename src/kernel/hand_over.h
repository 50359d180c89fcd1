/*
 * The end of a walk: its record goes to the host, as it is where code was met that is not known
 * yet.
 */
#pragma once

#include "kernel/news.h"
#include "kernel/walk.h"

ALWAYS_INLINE void hand_over(struct walk *walk, struct kernel_process *process, struct ids ids)
{
	if (walk->unknown && ask_for_ranges(process, ids, walk->unknown))
		take_raw(walk);
	send(&walk->sample, record_size(walk));
}

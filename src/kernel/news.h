/*
 * Short records for the host.
 */
#pragma once

#include "kernel/ids.h"

struct news {
	struct sample head;
	__u64 words[2];
};

ALWAYS_INLINE void news_send(enum kernel_news kind, struct ids ids, __u64 first, __u64 second)
{
	struct news news = {
		.head = { .time_ns = bpf_ktime_get_ns(),
			  .pid = ids.pid,
			  .tid = ids.tid,
			  .cpu = bpf_get_smp_processor_id(),
			  .kind = kind,
			  .user_count = 2 },
		.words = { first, second },
	};

	send(&news, sizeof(news));
}

/* The host reads the ranges of the process again; asked once, until it has. */
ALWAYS_INLINE void ask_for_ranges(struct kernel_process *process, struct ids ids, __u64 address)
{
	if (process->has_asked)
		return;
	process->has_asked = 1;
	news_send(NEWS_UNKNOWN, ids, address, 0);
}

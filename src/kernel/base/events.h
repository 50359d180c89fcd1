/*
 * Sends short records to the host.
 */
#pragma once

#include "kernel/base/ids.h"
#include "kernel/base/maps.h"

struct event_record {
	struct sample head;
	__u64 words[2];
};

ALWAYS_INLINE void event_send(enum kernel_event kind, struct ids ids, __u64 first, __u64 second)
{
	struct event_record event_record = {
		.head = { .time_ns = bpf_ktime_get_ns(),
			  .pid = ids.pid,
			  .tid = ids.tid,
			  .cpu = bpf_get_smp_processor_id(),
			  .kind = kind,
			  .user_count = 2 },
		.words = { first, second },
	};

	send(&event_record, sizeof(event_record));
}

/* Makes the host read the process's ranges again; sent once. 1: the host has not answered yet. */
ALWAYS_INLINE int ask_for_ranges(struct kernel_process *process, struct ids ids, __u64 address)
{
	if (process->asking == ASKING) {
		process->asking = ASKED;
		event_send(KERNEL_EVENT_UNKNOWN, ids, address, 0);
	}
	return process->asking == ASKED;
}

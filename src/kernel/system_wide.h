/*
 * Samples all processes: the host learns of each one by its first tick, and again by the first tick
 * after it has executed another program. Between two ticks a process costs nothing.
 */
#pragma once

#include "kernel/walk/hand_over.h"

struct appearance_record {
	struct sample head;
	struct kernel_appearance appearance;
};

/* Until one of the two executes another program, a child has a copy of its parent's memory. */
ALWAYS_INLINE __u32 parent_alike(struct task_struct *task)
{
	struct task_struct *parent = task->real_parent;
	struct ids ids;

	if (task->self_exec_id != task->parent_exec_id ||
	    parent->self_exec_id != task->parent_exec_id)
		return 0;
	ids = ids_of(parent);
	return ids.pid;
}

/* Wakes the host, because the process may exit at once. */
ALWAYS_INLINE void appearance_send(struct task_struct *task, struct ids ids)
{
	struct appearance_record record = {
		.head = { .time_ns = bpf_ktime_get_ns(),
			  .pid = ids.pid,
			  .tid = ids.tid,
			  .cpu = bpf_get_smp_processor_id(),
			  .kind = KERNEL_EVENT_APPEARED,
			  .user_count = sizeof(struct kernel_appearance) / sizeof(__u64) },
		.appearance = { .start_stack = BPF_CORE_READ(task, mm, start_stack),
				.parent = parent_alike(task) },
	};

	bpf_get_current_comm(record.appearance.name, sizeof(record.appearance.name));
	send_with(&record, sizeof(record), BPF_RB_FORCE_WAKEUP);
}

/* Notes a new process. Its stacks are sent unchanged until the host has read its mappings. NULL:
 * there is no room. Only for a process that has memory: without memory it is exiting, and its entry
 * would never be deleted. */
ALWAYS_INLINE struct kernel_process *process_appear(struct task_struct *task, struct ids ids)
{
	struct kernel_process process = { .generation = KERNEL_NO_RANGES >> 32,
					  .pid = ids.pid,
					  .asking = ASKED };

	if (!bpf_map_update_elem(&processes, &ids.pid, &process, BPF_NOEXIST))
		appearance_send(task, ids);
	return bpf_map_lookup_elem(&processes, &ids.pid);
}

/* The thread has no user side, or the process no entry: sends the kernel frames. */
ALWAYS_INLINE void send_kernel_side(struct walk *walk, struct task_struct *task)
{
	__u64 count = walk->sample.kernel_count;

	walk->sample.end = STACK_NO_USER;
	if (task->flags & PF_KTHREAD && count)
		walk->sample.end = count < KERNEL_FRAMES_MAX ? STACK_COMPLETE : STACK_CUT;
	if (task->mm)
		walk->sample.end = STACK_UNREAD;
	send(&walk->sample, record_size(walk));
}

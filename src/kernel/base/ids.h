/*
 * A task's IDs as the host knows these: in the host's own PID namespace.
 */
#pragma once

#include "kernel/base/types.h"

struct ids {
	__u32 pid, tid; /* 0: not visible there */
};

ALWAYS_INLINE __u32 number_at_level(struct pid *pid)
{
	struct upid *number = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      settings.level * bpf_core_type_size(struct upid);

	if (BPF_CORE_READ(pid, level) < settings.level ||
	    BPF_CORE_READ(number, ns, ns.inum) != settings.pid_space)
		return 0;
	return BPF_CORE_READ(number, nr);
}

ALWAYS_INLINE struct ids ids_of(struct task_struct *task)
{
	struct ids ids = { task->tgid, task->pid };

	if (settings.level) {
		ids.pid = number_at_level(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
		ids.tid = number_at_level(BPF_CORE_READ(task, thread_pid));
	}
	return ids;
}

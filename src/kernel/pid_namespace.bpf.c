/*
 * The host runs this once on itself: finds its PID namespace.
 */
#include "kernel/base/maps.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("raw_tp")
int host_namespace(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_counts *all = counts_of_all();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *number;

	if (!all)
		return 0;
	all->level = BPF_CORE_READ(pid, level);
	number = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
		 all->level * bpf_core_type_size(struct upid);
	all->pid_space = BPF_CORE_READ(number, ns, ns.inum);
	return 0;
}

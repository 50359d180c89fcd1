/*
 * Runs in the kernel at each tick of a thread's clock: records the thread's stack. Also tracks
 * forks, execs and exits. Changes nothing in the processes.
 */
#define CHAIN_SCRATCH chain_scratch
#define RAW_SCRATCH   raw_scratch
#include "kernel/interpreters/interpreters.h"
#include "kernel/system_wide.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

MAP(scratch, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct walk);

/* Threads that may have several clocks: one opened for the thread, and inherited ones. The first
 * one that ticks counts; 0 before. Clocks are distinguished by their periods, which are inherited
 * (cookies are not): later clocks have periods some nanoseconds longer. */
MAP(inherited_events, BPF_MAP_TYPE_HASH, 16384, __u64);

/* True for a tick of a clock that does not count. */
ALWAYS_INLINE int is_second(struct bpf_perf_event_data *context, __u32 tid)
{
	__u64 *clock = bpf_map_lookup_elem(&inherited_events, &tid), cookie, ticking;

	if (!clock)
		return 0;
	cookie = bpf_get_attach_cookie(context);
	if (cookie == KERNEL_COOKIE_PROCESSOR)
		return 0;
	ticking = settings.has_fixed_period ? context->sample_period : cookie + 1;
	if (!*clock)
		*clock = ticking;
	return *clock != ticking;
}

/* A thread created by one with several clocks inherits all of them. An existing entry is that of an
 * older thread with the same TID; or the host has already opened a second clock for the new one,
 * which has not ticked yet. */
ALWAYS_INLINE void pass_on_clocks(struct ids born, struct ids of)
{
	__u64 none = 0, *clock = bpf_map_lookup_elem(&inherited_events, &born.tid);

	if (bpf_map_lookup_elem(&inherited_events, &of.tid))
		bpf_map_update_elem(&inherited_events, &born.tid, &none, BPF_ANY);
	else if (clock && *clock)
		bpf_map_delete_elem(&inherited_events, &born.tid);
}

/* True if a tick in this thread becomes a sample. System-wide: not of idle tasks, nor of processes
 * invisible from here, nor of the host. */
ALWAYS_INLINE int is_sampled(struct bpf_perf_event_data *context,
			     const struct kernel_process *process, struct ids ids)
{
	if (settings.is_system_wide)
		return ids.pid && ids.pid != settings.own_pid;
	return process && process->pid == ids.pid && !is_second(context, ids.tid);
}

SEC("perf_event")
int sample_running(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ids ids = ids_of(task);
	struct kernel_process *process = bpf_map_lookup_elem(&processes, &ids.pid);
	struct kernel_counts *all;
	struct walk *walk;
	__u32 zero = 0, every;

	if (!is_sampled(context, process, ids))
		return 0;
	/* One tick in `every` stands for the others: at random, since the application's rhythm must
	 * not matter. */
	all = counts_of_all();
	every = all && all->every ? all->every : 1;
	if (every > 1 && bpf_get_prandom_u32() % every)
		return 0;
	walk = bpf_map_lookup_elem(&scratch, &zero);
	if (!walk)
		return 0;
	walk->sample = (struct sample){ .time_ns = bpf_ktime_get_ns(),
					.weight_ns = settings.period_ns * every,
					.pid = ids.pid,
					.tid = ids.tid,
					.cpu = bpf_get_smp_processor_id(),
					.kind = SAMPLE_RUNNING };
	if (REGISTERS_USER(&context->regs)) {
		walk->registers = context->regs;
	} else {
		take_kernel_frames(walk, context, 0);
		if (take_saved_registers(walk, task))
			return 0;
	}
	if (settings.is_system_wide && !process && task->mm)
		process = process_appear(task, ids);
	if (settings.is_system_wide && (!process || !task->mm)) {
		send_kernel_side(walk, task);
		return 0;
	}
	if (!process)
		return 0;
	walk_up(walk, task, process);
	interpreter_send(interpreter_take(walk, task), walk);
	hand_over(walk, process, ids);
	return 0;
}

/* A child has its parent's memory, and so its ranges, until it executes another program. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_forked, struct task_struct *parent, struct task_struct *child)
{
	struct ids born = ids_of(child), of = ids_of(parent);
	struct kernel_process *known, process;

	known = bpf_map_lookup_elem(&processes, &of.pid);
	if (!known || (!settings.with_children && born.pid != of.pid))
		return 0;
	pass_on_clocks(born, of);
	if (born.pid == of.pid)
		return 0;
	process = *known;
	process.pid = born.pid;
	process.asking = ASKING;
	bpf_map_update_elem(&processes, &born.pid, &process, BPF_ANY);
	interpreter_pass_on(born.pid, of.pid);
	event_send(KERNEL_EVENT_FORKED, born, of.pid, 0);
	return 0;
}

/* The next process with this PID is another one. */
ALWAYS_INLINE int process_forget(struct ids ids)
{
	bpf_map_delete_elem(&processes, &ids.pid);
	bpf_map_delete_elem(&interpreters, &ids.pid);
	event_send(KERNEL_EVENT_ENDED, ids, 0, 0);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_executed, struct task_struct *task)
{
	struct ids ids = ids_of(task);
	struct kernel_process *process = bpf_map_lookup_elem(&processes, &ids.pid);
	__u64 none = 0;

	if (!process)
		return 0;
	if (settings.is_system_wide)
		return process_forget(ids);
	/* The thread keeps its clocks, and gets the TID of the first thread. */
	bpf_map_update_elem(&inherited_events, &ids.tid, &none, BPF_ANY);
	*(volatile __u64 *)process = KERNEL_NO_RANGES;
	process->asking = ASKED;
	bpf_map_delete_elem(&interpreters, &ids.pid);
	event_send(KERNEL_EVENT_EXECUTED, ids, 0, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_ended, struct task_struct *task)
{
	struct ids ids = ids_of(task);

	if (!bpf_map_lookup_elem(&processes, &ids.pid))
		return 0;
	bpf_map_delete_elem(&inherited_events, &ids.tid);
	if (task->signal->live.counter > 0)
		return 0;
	return process_forget(ids);
}

/*
 * Runs in the kernel when a processor switches threads: records a thread's stack when it leaves the
 * processor, and when it comes back, how long it was blocked and how long it then waited for a
 * processor. Threads of other processes cost two lookups.
 */
#define CHAIN_SCRATCH chain_switch_scratch
#define RAW_SCRATCH   raw_switch_scratch
#include "kernel/interpreters/interpreters.h"
#include "kernel/off_cpu.h"
#include "kernel/walk/hand_over.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

MAP(switch_scratch, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct walk);

/* The cost of stacks of this processor's switches; above a limit only some are recorded. */
struct guard {
	__u64 since_ns, spent_ns;
	__u32 count, every;
};

MAP(guards, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct guard);

/* All stacks would have cost `every` times the cost of the recorded ones. */
ALWAYS_INLINE int guard_allows(struct guard *guard, __u64 now)
{
	__u64 every;

	if (now - guard->since_ns > KERNEL_GUARD_NS) {
		every = guard->spent_ns * (guard->every ? guard->every : 1) / KERNEL_GUARD_COST_NS +
			1;
		guard->every = every < KERNEL_GUARD_MAX ? every : KERNEL_GUARD_MAX;
		guard->count = 0;
		guard->spent_ns = 0;
		guard->since_ns = now;
	}
	guard->count++;
	return guard->every <= 1 || guard->count % guard->every == 0;
}

ALWAYS_INLINE struct kernel_off_cpu *off_cpu_begin(__u32 tid)
{
	struct kernel_off_cpu *off_cpu = bpf_map_lookup_elem(&off_cpu_threads, &tid), none = {};
	struct kernel_counts *all;

	if (off_cpu)
		return off_cpu;
	if (bpf_map_update_elem(&off_cpu_threads, &tid, &none, BPF_ANY) && (all = counts_of_all()))
		__sync_fetch_and_add(&all->untracked, 1);
	return bpf_map_lookup_elem(&off_cpu_threads, &tid);
}

ALWAYS_INLINE void send_stack(void *context, struct task_struct *task, struct ids ids,
			      struct kernel_process *process, __u64 now, __u8 letter)
{
	__u32 zero = 0;
	struct walk *walk = bpf_map_lookup_elem(&switch_scratch, &zero);

	if (!walk || take_saved_registers(walk, task))
		return;
	walk->sample = (struct sample){ .time_ns = now,
					.pid = ids.pid,
					.tid = ids.tid,
					.cpu = bpf_get_smp_processor_id(),
					.kind = KERNEL_EVENT_LEFT,
					.state = letter };
	take_kernel_frames(walk, context, settings.own_frames);
	walk_up(walk, task, process);
	interpreter_send(interpreter_take(walk, task), walk);
	hand_over(walk, process, ids);
}

ALWAYS_INLINE void thread_left(void *context, struct task_struct *task, int is_preempted)
{
	struct ids ids = ids_of(task);
	struct kernel_process *process = bpf_map_lookup_elem(&processes, &ids.pid);
	__u32 state = is_preempted ? 0 : task->__state;
	struct kernel_off_cpu *off_cpu;
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	struct guard *guard = bpf_map_lookup_elem(&guards, &zero);

	if (!process || process->pid != ids.pid || !guard)
		return;
	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&off_cpu_threads, &ids.tid);
		return;
	}
	off_cpu = off_cpu_begin(ids.tid);
	if (!off_cpu)
		return;
	off_cpu->since_ns = now;
	off_cpu->woken_ns = 0;
	off_cpu->is_blocked = state != 0;
	off_cpu->has_stack = guard_allows(guard, now);
	if (!off_cpu->has_stack)
		return;
	send_stack(context, task, ids, process, now, state_letter(state));
	guard->spent_ns += bpf_ktime_get_ns() - now;
}

ALWAYS_INLINE void thread_came(struct task_struct *task)
{
	struct ids ids = ids_of(task);
	struct kernel_off_cpu *off_cpu = bpf_map_lookup_elem(&off_cpu_threads, &ids.tid);
	__u64 now, blocked = 0, runnable;

	if (!off_cpu || !off_cpu->since_ns)
		return;
	now = bpf_ktime_get_ns();
	if (off_cpu->is_blocked)
		blocked = (off_cpu->woken_ns ? off_cpu->woken_ns : now) - off_cpu->since_ns;
	runnable = now - off_cpu->since_ns - blocked;
	off_cpu->since_ns = 0;
	off_cpu->more_blocked_ns += blocked;
	off_cpu->more_runnable_ns += runnable;
	if (!off_cpu->has_stack)
		return;
	event_send(KERNEL_EVENT_CAME, ids, off_cpu->more_blocked_ns, off_cpu->more_runnable_ns);
	off_cpu->more_blocked_ns = 0;
	off_cpu->more_runnable_ns = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(threads_switched, int is_preempted, struct task_struct *previous,
	     struct task_struct *next)
{
	thread_came(next);
	thread_left(ctx, previous, is_preempted);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(thread_woken, struct task_struct *task)
{
	struct ids ids = ids_of(task);
	struct kernel_off_cpu *off_cpu = bpf_map_lookup_elem(&off_cpu_threads, &ids.tid);

	if (off_cpu && off_cpu->since_ns && !off_cpu->woken_ns)
		off_cpu->woken_ns = bpf_ktime_get_ns();
	return 0;
}

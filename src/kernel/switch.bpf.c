/*
 * Runs in the kernel whenever a processor goes from one thread to another: writes where a thread
 * was when it left, and when it comes back, how long it was blocked and how long it then waited for
 * a processor.  Threads of other processes cost two lookups.
 */
#define PYTHON_SCRATCH python_switch_scratch
#include "kernel/absence.h"
#include "kernel/hand_over.h"
#include "kernel/interpreter.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} switch_scratch SEC(".maps");

/* What the stacks of this processor's switches cost; beyond a limit only some of them are taken. */
struct guard {
	__u64 since_ns, spent_ns;
	__u32 count, every;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct guard);
} guards SEC(".maps");

/* All stacks would have cost `every` times as much as those that were taken. */
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

ALWAYS_INLINE struct kernel_absence *absence_begin(__u32 tid)
{
	struct kernel_absence *absence = bpf_map_lookup_elem(&absences, &tid), none = {};
	struct kernel_counts *all;

	if (absence)
		return absence;
	if (bpf_map_update_elem(&absences, &tid, &none, BPF_ANY) && (all = counts_of_all()))
		__sync_fetch_and_add(&all->untracked, 1);
	return bpf_map_lookup_elem(&absences, &tid);
}

ALWAYS_INLINE void take_kernel_frames(struct walk *walk, void *context)
{
	long size = 0;

	if (settings.with_kernel_frames)
		size = bpf_get_stack(context, walk->frames, KERNEL_FRAMES_MAX * 8,
				     settings.own_frames);
	walk->sample.kernel_count = size > 0 ? (__u64)size / 8 : 0;
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
					.kind = NEWS_LEFT,
					.state = letter };
	take_kernel_frames(walk, context);
	walk_up(walk, task, process);
	python_send(functions_take(walk, task), walk);
	hand_over(walk, process, ids);
}

ALWAYS_INLINE void thread_left(void *context, struct task_struct *task, int is_preempted)
{
	struct ids ids = ids_of(task);
	struct kernel_process *process = bpf_map_lookup_elem(&processes, &ids.pid);
	__u32 state = is_preempted ? 0 : task->__state;
	struct kernel_absence *absence;
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	struct guard *guard = bpf_map_lookup_elem(&guards, &zero);

	if (!process || process->pid != ids.pid || !guard)
		return;
	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&absences, &ids.tid);
		return;
	}
	absence = absence_begin(ids.tid);
	if (!absence)
		return;
	absence->since_ns = now;
	absence->woken_ns = 0;
	absence->is_blocked = state != 0;
	absence->has_stack = guard_allows(guard, now);
	if (!absence->has_stack)
		return;
	send_stack(context, task, ids, process, now, state_letter(state));
	guard->spent_ns += bpf_ktime_get_ns() - now;
}

ALWAYS_INLINE void thread_came(struct task_struct *task)
{
	struct ids ids = ids_of(task);
	struct kernel_absence *absence = bpf_map_lookup_elem(&absences, &ids.tid);
	__u64 now, blocked = 0, runnable;

	if (!absence || !absence->since_ns)
		return;
	now = bpf_ktime_get_ns();
	if (absence->is_blocked)
		blocked = (absence->woken_ns ? absence->woken_ns : now) - absence->since_ns;
	runnable = now - absence->since_ns - blocked;
	absence->since_ns = 0;
	absence->more_blocked_ns += blocked;
	absence->more_runnable_ns += runnable;
	if (!absence->has_stack)
		return;
	news_send(NEWS_CAME, ids, absence->more_blocked_ns, absence->more_runnable_ns);
	absence->more_blocked_ns = 0;
	absence->more_runnable_ns = 0;
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
	struct kernel_absence *absence = bpf_map_lookup_elem(&absences, &ids.tid);

	if (absence && absence->since_ns && !absence->woken_ns)
		absence->woken_ns = bpf_ktime_get_ns();
	return 0;
}

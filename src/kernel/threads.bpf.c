/*
 * Runs in the kernel for each thread of a process on the host's request: records its stack without
 * stopping it. A thread that is off-CPU has its registers saved in the kernel; the program checks
 * that it stayed so during the walk. For a running thread only that state is recorded.
 */
#define ITERATOR
#define CHAIN_SCRATCH chain_threads_scratch
#include "kernel/base/events.h"
#include "kernel/interpreters/interpreters.h"
#include "kernel/off_cpu.h"
#include "kernel/walk/walk.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* One walk at a time, which may be preempted and migrate: no per-CPU map. */
MAP(threads_scratch, BPF_MAP_TYPE_ARRAY, 1, struct walk);

MAP(questions, BPF_MAP_TYPE_ARRAY, 1, struct kernel_question);

ALWAYS_INLINE __u64 switches_of(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* Complete only if the thread was off-CPU all the time. Returns its interpreted frames, or NULL. */
ALWAYS_INLINE struct chain *see_thread(struct walk *walk, struct task_struct *task,
				       struct kernel_process *process,
				       struct kernel_question *question)
{
	struct chain *chain = 0;
	__u64 switches = switches_of(task);
	int ran = task->on_cpu;
	long size = 0;

	if (!ran) {
		/* The kernel omits its scheduler, and all frames further inside. */
		if (question->is_kernel)
			size = bpf_get_task_stack(task, walk->frames, KERNEL_FRAMES_MAX * 8, 0);
		walk->sample.kernel_count = size > 0 ? (__u64)size / 8 : 0;
		walk->sample.end = STACK_NO_USER;
		if (!task->exit_state && task->mm && !take_saved_registers(walk, task))
			walk_up(walk, task, process);
		chain = interpreter_take(walk, task);
		ran = task->on_cpu || switches_of(task) != switches;
	}
	if (ran) {
		walk->sample.kind = KERNEL_EVENT_RUNNING;
		walk->sample.state = 'R';
		walk->sample.kernel_count = 0;
		walk->sample.user_count = 0;
		walk->sample.end = STACK_NO_USER;
		chain = 0;
	}
	return chain;
}

/* Marks the thread as off-CPU, unless the program of thread switches has already done so. */
ALWAYS_INLINE void seed_off_cpu(const struct walk *walk)
{
	struct kernel_off_cpu off_cpu = {
		.since_ns = walk->sample.time_ns,
		.is_blocked = walk->sample.state != 'R',
		.has_stack = 1,
	};
	__u32 tid = walk->sample.tid;

	bpf_map_update_elem(&off_cpu_threads, &tid, &off_cpu, BPF_NOEXIST);
}

/* The host reads the ranges again, and repeats the request. */
ALWAYS_INLINE int is_put_off(const struct walk *walk, const struct kernel_question *question)
{
	struct kernel_counts *all = counts_of_all();

	if (!walk->unknown || question->is_last || walk->sample.kind == KERNEL_EVENT_RUNNING ||
	    !all)
		return 0;
	__sync_fetch_and_add(&all->unknown, 1);
	return 1;
}

SEC("iter.s/task")
int thread_seen(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u32 zero = 0;
	struct kernel_question *question = bpf_map_lookup_elem(&questions, &zero);
	struct walk *walk = bpf_map_lookup_elem(&threads_scratch, &zero);
	struct kernel_process *process;
	struct chain *chain;
	struct ids ids;

	if (!task || !question || !walk)
		return 0;
	ids = ids_of(task);
	process = bpf_map_lookup_elem(&processes, &ids.pid);
	if (!process || ids.pid != question->pid)
		return 0;
	walk->sample =
		(struct sample){ .time_ns = bpf_ktime_get_ns(),
				 .pid = ids.pid,
				 .tid = ids.tid,
				 .kind = question->is_seed ? KERNEL_EVENT_LEFT : KERNEL_EVENT_SEEN,
				 .state = state_letter(task->__state) };
	walk->unknown = 0;
	chain = see_thread(walk, task, process, question);
	if (is_put_off(walk, question))
		return 0;
	interpreter_send(chain, walk);
	send(&walk->sample, record_size(walk));
	if (question->is_seed && walk->sample.kind == KERNEL_EVENT_LEFT)
		seed_off_cpu(walk);
	return 0;
}

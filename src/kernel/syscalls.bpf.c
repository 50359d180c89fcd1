/*
 * Runs in the kernel when a thread enters a system call and when it returns: records the call, its
 * times and its result. Calls of other processes cost one lookup each. Changes nothing in the
 * processes.
 */
#include "kernel/base/ids.h"
#include "shared/wire/syscall.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* By PID as the host knows it. The host adds requested processes last, which starts tracing. */
MAP(syscall_processes, BPF_MAP_TYPE_HASH, KERNEL_PROCESSES_MAX, struct syscall_process);

/* By the global TID. */
MAP(syscall_threads, BPF_MAP_TYPE_HASH, SYSCALL_THREADS_MAX, struct syscall_thread);

/* By syscall number: enum syscall_shape. */
MAP(syscall_shapes, BPF_MAP_TYPE_ARRAY, SYSCALL_NUMBERS_MAX, __u8);

MAP(syscall_counts, BPF_MAP_TYPE_ARRAY, 1, struct syscall_counts);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct record_with_path {
	struct syscall_record record;
	char path[SYSCALL_PATH_MAX];
};

MAP(syscall_scratch, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct record_with_path);

#if defined(__TARGET_ARCH_x86)
#define STATUS_COMPAT   0x0002     /* TS_COMPAT */
#define NUMBER_X32      0x40000000 /* in x32 syscall numbers */
#define ARGUMENT_0(it)  ((it)->di)
#define ARGUMENT_1(it)  ((it)->si)
#define ARGUMENT_2(it)  ((it)->dx)
#define NUMBER_OF(it)   ((it)->orig_ax)
#define IS_32_BIT(task) ((task)->thread_info.status & STATUS_COMPAT)
#else
#define FLAG_32_BIT     (1 << 22) /* TIF_32BIT */
#define NUMBER_X32      0
#define ARGUMENT_0(it)  ((it)->orig_x0)
#define ARGUMENT_1(it)  ((it)->regs[1])
#define ARGUMENT_2(it)  ((it)->regs[2])
#define NUMBER_OF(it)   ((it)->syscallno)
#define IS_32_BIT(task) ((task)->thread_info.flags & FLAG_32_BIT)
#endif

ALWAYS_INLINE struct syscall_counts *counts_of_all(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&syscall_counts, &zero);
}

/* A lost event does no harm: the host finds out by itself later. */
ALWAYS_INLINE void send_event(enum syscall_record_kind kind, struct ids ids)
{
	struct syscall_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return;
	*record = (struct syscall_record){ .begin_ns = bpf_ktime_get_ns(),
					   .pid = ids.pid,
					   .tid = ids.tid,
					   .descriptor = -1,
					   .kind = kind };
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

struct record_with_name {
	struct syscall_record record;
	char name[SYSCALL_THREAD_NAME];
};

/* Sends the name as well, because the host may not have read it yet. */
ALWAYS_INLINE void send_thread_end(struct ids ids, __u32 dropped)
{
	struct record_with_name *ended = bpf_ringbuf_reserve(&ring, sizeof(*ended), 0);

	if (!ended)
		return;
	ended->record = (struct syscall_record){ .begin_ns = bpf_ktime_get_ns(),
						 .pid = ids.pid,
						 .tid = ids.tid,
						 .descriptor = -1,
						 .dropped = dropped,
						 .path_bytes = sizeof(ended->name),
						 .kind = SYSCALL_THREAD_ENDED };
	bpf_get_current_comm(ended->name, sizeof(ended->name));
	bpf_ringbuf_submit(ended, BPF_RB_NO_WAKEUP);
}

ALWAYS_INLINE struct syscall_thread *thread_make(__u32 key, struct ids ids, int is_born)
{
	struct syscall_thread thread = { .pid = ids.pid, .tid = ids.tid, .is_born = is_born };

	bpf_map_update_elem(&syscall_threads, &key, &thread, BPF_ANY);
	return bpf_map_lookup_elem(&syscall_threads, &key);
}

ALWAYS_INLINE void record_fill(struct syscall_record *record, const struct syscall_thread *thread,
			       enum syscall_record_kind kind)
{
	*record = (struct syscall_record){ .begin_ns = thread->begin_ns,
					   .size = thread->size,
					   .pid = thread->pid,
					   .tid = thread->tid,
					   .descriptor = thread->descriptor,
					   .number = thread->number,
					   .dropped = thread->dropped,
					   .kind = kind,
					   .flags = thread->flags };
}

/* Returns 0 if it was sent. The kernel has just read the path: its memory is resident. */
ALWAYS_INLINE long send_path(const struct syscall_thread *thread, enum syscall_record_kind kind,
			     __u64 end_ns, __s64 result)
{
	__u32 zero = 0;
	struct record_with_path *scratch = bpf_map_lookup_elem(&syscall_scratch, &zero);
	__u64 size = sizeof(scratch->record);
	long bytes;

	if (!scratch)
		return -1;
	record_fill(&scratch->record, thread, kind);
	scratch->record.end_ns = end_ns;
	scratch->record.result = result;
	bytes = bpf_probe_read_user_str(scratch->path, sizeof(scratch->path), (void *)thread->path);
	if (bytes > 0 && bytes <= SYSCALL_PATH_MAX) {
		scratch->record.path_bytes = bytes;
		size += bytes;
	}
	return bpf_ringbuf_output(&ring, scratch, size, BPF_RB_NO_WAKEUP);
}

ALWAYS_INLINE long send_call(const struct syscall_thread *thread, __u64 end_ns, __s64 result)
{
	struct syscall_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return -1;
	record_fill(record, thread, SYSCALL_RETURNED);
	record->end_ns = end_ns;
	record->result = result;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

ALWAYS_INLINE void take_number(struct syscall_thread *thread, struct task_struct *task, long number)
{
	__u32 index = number;
	__u8 *shape = bpf_map_lookup_elem(&syscall_shapes, &index);

	thread->number = number & ~NUMBER_X32;
	thread->flags = IS_32_BIT(task) || number & NUMBER_X32 ? SYSCALL_32_BIT : 0;
	thread->shape = shape && !thread->flags ? *shape : 0;
	thread->descriptor = -1;
	thread->path = 0;
	thread->size = 0;
}

ALWAYS_INLINE void take_arguments(struct syscall_thread *thread, struct pt_regs___call *registers)
{
	if (thread->shape & (SYSCALL_DESCRIPTOR | SYSCALL_PATH_SECOND))
		thread->descriptor = ARGUMENT_0(registers);
	if (thread->shape & SYSCALL_PATH_FIRST)
		thread->path = ARGUMENT_0(registers);
	if (thread->shape & SYSCALL_PATH_SECOND)
		thread->path = ARGUMENT_1(registers);
	if (thread->shape & SYSCALL_SIZE)
		thread->size = ARGUMENT_2(registers);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_entered, struct pt_regs___call *registers, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ids ids = ids_of(task);
	struct syscall_counts *counts;
	struct syscall_thread *thread;
	__u32 key = task->pid;

	if (!bpf_map_lookup_elem(&syscall_processes, &ids.pid))
		return 0;
	thread = bpf_map_lookup_elem(&syscall_threads, &key);
	if (!thread)
		thread = thread_make(key, ids, 0);
	if (!thread) {
		counts = counts_of_all();
		if (counts)
			__sync_fetch_and_add(&counts->untracked, 1);
		return 0;
	}
	take_number(thread, task, number);
	take_arguments(thread, registers);
	thread->is_born = 0;
	thread->is_within = 1;
	if (thread->shape & SYSCALL_EXECUTES)
		send_path(thread, SYSCALL_EXECUTING, 0, 0);
	thread->begin_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_returned, struct pt_regs___call *registers, long result)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	struct ids ids = ids_of(task);
	struct syscall_counts *counts;
	struct syscall_thread *thread;
	__u32 key = task->pid;
	int has_path;
	long lost;

	if (!bpf_map_lookup_elem(&syscall_processes, &ids.pid))
		return 0;
	thread = bpf_map_lookup_elem(&syscall_threads, &key);
	if (!thread) {
		thread_make(key, ids, 0);
		send_event(SYSCALL_BEGAN_BEFORE, ids);
		return 0;
	}
	if (thread->is_born) {
		thread->is_born = 0;
		return 0;
	}
	if (!thread->is_within) { /* never entered: a filter of the thread's (seccomp) refused it */
		take_number(thread, task, NUMBER_OF(registers));
		thread->shape = 0;
		thread->begin_ns = now;
	}
	thread->is_within = 0;
	has_path = thread->path && !(thread->shape & SYSCALL_EXECUTES);
	lost = has_path ? send_path(thread, SYSCALL_RETURNED, now, result)
			: send_call(thread, now, result);
	if (lost) {
		thread->dropped++;
		counts = counts_of_all();
		if (counts)
			__sync_fetch_and_add(&counts->dropped, 1);
	}
	return 0;
}

/* Runs before the new task does: no call of it is missed. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_forked, struct task_struct *parent, struct task_struct *child)
{
	struct ids born = ids_of(child), of = ids_of(parent);
	struct syscall_process process = { born.pid };

	if (!bpf_map_lookup_elem(&syscall_processes, &of.pid))
		return 0;
	if (born.pid != of.pid) {
		if (!settings.with_children)
			return 0;
		bpf_map_update_elem(&syscall_processes, &born.pid, &process, BPF_ANY);
		send_event(SYSCALL_FORKED, born);
	}
	thread_make(child->pid, born, 1);
	return 0;
}

/* A thread that executes gets the TID of the first thread, and its dropped records belonged to the
 * old program. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_executed, struct task_struct *task, int old_number)
{
	struct ids ids = ids_of(task);
	__u32 old_key = old_number, key = task->pid;
	struct syscall_thread *thread, moved;

	if (!bpf_map_lookup_elem(&syscall_processes, &ids.pid))
		return 0;
	thread = bpf_map_lookup_elem(&syscall_threads, &old_key);
	if (thread)
		thread->dropped = 0;
	if (thread && key != old_key) {
		moved = *thread;
		moved.tid = ids.tid;
		bpf_map_delete_elem(&syscall_threads, &old_key);
		bpf_map_update_elem(&syscall_threads, &key, &moved, BPF_ANY);
	}
	send_event(SYSCALL_EXECUTED, ids);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_ended, struct task_struct *task)
{
	struct ids ids = ids_of(task);
	struct syscall_thread *thread;
	__u32 key = task->pid;

	if (!bpf_map_lookup_elem(&syscall_processes, &ids.pid))
		return 0;
	thread = bpf_map_lookup_elem(&syscall_threads, &key);
	if (thread) {
		send_thread_end(ids, thread->dropped);
		bpf_map_delete_elem(&syscall_threads, &key);
	}
	if (task->signal->live.counter > 0)
		return 0;
	bpf_map_delete_elem(&syscall_processes, &ids.pid);
	send_event(SYSCALL_ENDED, ids);
	return 0;
}

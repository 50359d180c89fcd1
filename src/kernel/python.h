/*
 * Reads the Python interpreter's frames in its memory. The chain belongs to the thread, which runs
 * nothing else meanwhile. The host interprets the addresses.
 *
 * PYTHON_SCRATCH: the name of the map in which an object keeps the walk.
 */
#pragma once

#include "kernel/ids.h"
#include "kernel/walk.h"

#define PYTHON_THREADS_MAX 2048 /* steps over threads and interpreters */
#define PYTHON_ADDRESS     ((1ull << KERNEL_PYTHON_MARK_SHIFT) - 1)

/* By PID. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct kernel_python);
} pythons SEC(".maps");

/* By TID: the address of the thread's state at the last lookup. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} python_threads SEC(".maps");

struct python_walk {
	struct kernel_python layout;
	struct kernel_interpreter other; /* for another language: interpreter.h */
	__u64 end;                       /* of the stack that contains its frames */
	__u64 at;                        /* position of a context's next function */
	__u64 before;                    /* number of frames before this stack's */
	__u64 identity;                  /* the thread's identity in its state */
	__u64 next_interpreter;          /* address of the pointer to the next one */
	__u64 thread, frame;
	__u64 lowest; /* Lua: marks of running states are not below this */
	__u64 limit;  /* LuaJIT: the state's bases are below this */
	__u64 shared; /* Lua: common to all states of this stack */
	__u64 count;
	struct sample sample;
	struct kernel_python_frame
		frames[KERNEL_PYTHON_FRAMES + 1]; /* directly behind the sample */
	__u8 bytes[KERNEL_PYTHON_FRAME_BYTES];
};

struct {
#ifdef ITERATOR
	__uint(type, BPF_MAP_TYPE_ARRAY);
#else
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
#endif
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_walk);
} PYTHON_SCRATCH SEC(".maps");

struct python_climb {
	struct climb base;
	struct python_walk *python;
};

/* A thread's ID in its own namespace. */
ALWAYS_INLINE __u32 inner_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *number = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      BPF_CORE_READ(pid, level) * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(number, nr);
}

/* 0 also if the memory is unreadable. */
ALWAYS_INLINE __u64 python_word(struct python_climb *climb, __u64 address)
{
	__u64 word = 0;

	return read_memory(&climb->base, &word, sizeof(word), address) ? 0 : word;
}

#if defined(__TARGET_ARCH_x86)

/* The interpreter stores pthread_self(): the thread pointer. */
ALWAYS_INLINE __u64 python_identity(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

ALWAYS_INLINE __u64 python_thread_identity(struct python_climb *climb, __u64 thread)
{
	return python_word(climb, thread + climb->python->layout.thread_id);
}

#else

/* The interpreter stores the kernel's thread ID, or a pointer to it. */
ALWAYS_INLINE __u64 python_identity(struct task_struct *task)
{
	return inner_number(task);
}

ALWAYS_INLINE __u64 python_thread_identity(struct python_climb *climb, __u64 thread)
{
	const struct kernel_python *layout = &climb->python->layout;
	__u64 id = python_word(climb, thread + layout->thread_id);

	return id && layout->thread_number ? (__u32)python_word(climb, id + layout->thread_number)
					   : id;
}

#endif

/* The innermost frame of a thread, if it is the right thread and runs Python now. */
ALWAYS_INLINE __u64 python_first_frame(struct python_climb *climb, __u64 thread)
{
	const struct kernel_python *layout = &climb->python->layout;
	__u64 frame;

	if (python_thread_identity(climb, thread) != climb->python->identity)
		return 0;
	frame = python_word(climb, thread + layout->thread_frame);
	return frame && layout->has_control ? python_word(climb, frame + layout->control_frame)
					    : frame;
}

static long python_next_thread(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;

	if (!python->thread) {
		__u64 interpreter = python_word(climb, python->next_interpreter);

		python->next_interpreter = interpreter + python->layout.interpreter_next;
		if (interpreter)
			python->thread = python_word(
				climb, interpreter + python->layout.interpreter_threads);
		return interpreter ? STEP_ON : STEP_END;
	}
	python->frame = python_first_frame(climb, python->thread);
	if (python->frame)
		return STEP_END;
	python->thread = python_word(climb, python->thread + python->layout.thread_next);
	return STEP_ON;
}

ALWAYS_INLINE void python_find_thread(struct python_climb *climb, __u32 tid)
{
	struct python_walk *python = climb->python;
	__u64 *known = bpf_map_lookup_elem(&python_threads, &tid);

	python->frame = known ? python_first_frame(climb, *known) : 0;
	if (python->frame)
		return;
	python->thread = 0;
	python->next_interpreter = python->layout.interpreters;
	bpf_loop(PYTHON_THREADS_MAX, python_next_thread, climb, 0);
	if (python->frame)
		bpf_map_update_elem(&python_threads, &tid, &python->thread, BPF_ANY);
}

ALWAYS_INLINE __u64 python_field(const struct python_walk *python, __u64 offset)
{
	BOUND(offset, KERNEL_PYTHON_FRAME_BYTES - 8);
	return *(const __u64 *)(python->bytes + offset);
}

ALWAYS_INLINE __u64 python_mark(const struct python_walk *python)
{
	__u64 offset = python->layout.frame_mark;

	BOUND(offset, KERNEL_PYTHON_FRAME_BYTES - 1);
	return python->bytes[offset];
}

static long python_next_frame(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_python *layout = &python->layout;
	__u64 at = python->count;
	__u32 size = layout->frame_size;

	BOUND(size, KERNEL_PYTHON_FRAME_BYTES - 1);
	if (!python->frame || read_memory(&climb->base, python->bytes, size, python->frame))
		return STEP_END;
	BOUND(at, KERNEL_PYTHON_FRAMES);
	python->frames[at].code = python_field(python, layout->frame_code);
	python->frames[at].at = (python_field(python, layout->frame_at) & PYTHON_ADDRESS) |
				python_mark(python) << KERNEL_PYTHON_MARK_SHIFT;
	python->frame = python_field(python, layout->frame_previous);
	python->count = at + 1;
	return STEP_ON;
}

/* NULL: the process has no known Python. */
ALWAYS_INLINE struct python_walk *python_take(const struct walk *walk, struct task_struct *task)
{
	struct python_climb climb = { .base.task = task };
	__u32 pid = walk->sample.pid, tid = walk->sample.tid, zero = 0;
	struct kernel_python *layout = bpf_map_lookup_elem(&pythons, &pid);

	climb.python = bpf_map_lookup_elem(&PYTHON_SCRATCH, &zero);
	if (!layout || !climb.python)
		return 0;
	climb.python->layout = *layout;
	climb.python->identity = python_identity(task);
	climb.python->count = 0;
	python_find_thread(&climb, tid);
	bpf_loop(KERNEL_PYTHON_FRAMES, python_next_frame, &climb, 0);
	return climb.python;
}

/* Sent before the record of their walk. */
ALWAYS_INLINE void python_send(struct python_walk *python, const struct walk *walk)
{
	__u64 count;

	if (!python || !python->count)
		return;
	count = python->count;
	BOUND(count, KERNEL_PYTHON_FRAMES);
	python->sample = walk->sample;
	python->sample.kind = KERNEL_EVENT_PYTHON;
	python->sample.flags = 0;
	python->sample.kernel_count = 0;
	python->sample.user_count = count * 2;
	send(&python->sample, sizeof(struct sample) + count * sizeof(struct kernel_python_frame));
}

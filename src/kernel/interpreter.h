/*
 * Reads the frames of interpreters other than Python in the same way: the host provides offsets,
 * and interprets the frames.
 */
#pragma once

#include "kernel/luajit.h"

#define CONTEXTS_MAX (4 * KERNEL_PYTHON_FRAMES) /* contexts and stacks */

/* By PID. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct kernel_interpreter);
} interpreters SEC(".maps");

/* 0: unreadable. */
ALWAYS_INLINE __u64 interpreter_step(struct python_climb *climb, __u64 from, __u16 offset)
{
	if (!from || offset == KERNEL_NO_STEP)
		return from;
	return python_word(climb, from + offset);
}

ALWAYS_INLINE int interpreter_is_thread(struct python_climb *climb, __u64 thread)
{
	const struct kernel_interpreter *layout = &climb->python->other;
	__u64 native = interpreter_step(climb, thread, layout->thread_native);

	return native && (__u32)python_word(climb, native + layout->thread_id) ==
				 (__u32)climb->python->identity;
}

/* next_interpreter: the first thread of the ring. */
static long interpreter_next_thread(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;

	if (interpreter_is_thread(climb, python->thread)) {
		python->frame = python->thread;
		return STEP_END;
	}
	python->thread = interpreter_step(climb, python->thread, python->other.thread_next);
	return python->thread && python->thread != python->next_interpreter ? STEP_ON : STEP_END;
}

ALWAYS_INLINE __u64 interpreter_start(struct python_climb *climb)
{
	__u64 root = python_word(climb, climb->python->other.root);

	return interpreter_step(climb, root, climb->python->other.start);
}

/* Sets `frame` to the thread; 0: it is no thread of the interpreter. */
ALWAYS_INLINE void interpreter_find_thread(struct python_climb *climb, __u32 tid)
{
	struct python_walk *python = climb->python;
	__u64 *known = bpf_map_lookup_elem(&python_threads, &tid);

	python->frame = known && interpreter_is_thread(climb, *known) ? *known : 0;
	if (python->frame)
		return;
	python->thread = interpreter_start(climb);
	python->next_interpreter = python->thread;
	bpf_loop(PYTHON_THREADS_MAX, interpreter_next_thread, climb, 0);
	if (python->frame)
		bpf_map_update_elem(&python_threads, &tid, &python->frame, BPF_ANY);
}

/* Finds the thread's innermost frame. The outermost entry of a stack is no function's. */
ALWAYS_INLINE void interpreter_find_frame(struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_interpreter *layout = &python->other;
	__u64 holder = interpreter_step(climb, python->frame, layout->thread_holder);

	python->frame = interpreter_step(climb, holder, layout->holder_frame);
	python->end = ~0ull;
	if (holder && layout->frame_stride)
		python->end = python_word(climb, holder + layout->holder_stack) +
			      python_word(climb, holder + layout->holder_words) * 8 -
			      layout->frame_stride;
}

ALWAYS_INLINE __u64 interpreter_mark(struct python_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->python->other;
	__u64 word = python_field(climb->python, layout->frame_mark);

	if (layout->is_mark_behind)
		word = python_word(climb, word);
	return (word & layout->mark_bits) != 0;
}

ALWAYS_INLINE __u64 interpreter_at(struct python_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->python->other;
	__u64 at = python_field(climb->python, layout->frame_at);

	if (layout->line != KERNEL_NO_STEP)
		at = at ? (__u32)python_word(climb, at + layout->line) : 0;
	return at & PYTHON_ADDRESS;
}

ALWAYS_INLINE __u64 interpreter_code(struct python_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->python->other;
	__u64 code = python_field(climb->python, layout->frame_code);

	if (!code || layout->code_name == KERNEL_NO_STEP ||
	    python_word(climb, code + layout->code_name))
		return code;
	return python_word(climb, code + layout->code_file) | KERNEL_OUTSIDE;
}

static long interpreter_next_frame(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_interpreter *layout = &python->other;
	__u64 at = python->count;
	__u32 size = layout->frame_size;

	BOUND(size, KERNEL_PYTHON_FRAME_BYTES - 1);
	if (!python->frame || python->frame >= python->end ||
	    read_memory(&climb->base, python->bytes, size, python->frame))
		return STEP_END;
	BOUND(at, KERNEL_PYTHON_FRAMES);
	python->frames[at].code = interpreter_code(climb);
	python->frames[at].at = interpreter_at(climb) | interpreter_mark(climb)
								<< KERNEL_PYTHON_MARK_SHIFT;
	python->frame = layout->frame_stride ? python->frame + layout->frame_stride
					     : python_field(python, layout->frame_previous);
	python->count = at + 1;
	return STEP_ON;
}

ALWAYS_INLINE void interpreter_add(struct python_walk *python, __u64 code, __u64 is_entry)
{
	__u64 at = python->count;

	BOUND(at, KERNEL_PYTHON_FRAMES);
	python->frames[at].code = code;
	python->frames[at].at = (python->at & PYTHON_ADDRESS) | is_entry
									<< KERNEL_PYTHON_MARK_SHIFT;
	python->count = at + 1;
}

ALWAYS_INLINE void interpreter_enter_stack(struct python_climb *climb, __u64 stack)
{
	struct python_walk *python = climb->python;
	const struct kernel_interpreter *layout = &python->other;
	__s32 last = (__s32)python_word(climb, stack + layout->contexts.last);

	python->thread = stack;
	python->before = python->count;
	python->end = python_word(climb, stack + layout->contexts.first);
	python->frame = last < 0 ? 0 : python->end + (__u64)last * layout->frame_stride;
}

/* C code called the function that entered this stack; top-level code called the first stack's. */
ALWAYS_INLINE long interpreter_leave_stack(struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	__u64 last = python->count - 1;

	python->thread = python_word(climb, python->thread + python->other.contexts.previous);
	if (!python->thread)
		return STEP_END;
	if (python->count > python->before) {
		BOUND(last, KERNEL_PYTHON_FRAMES);
		python->frames[last].at |= 1ull << KERNEL_PYTHON_MARK_SHIFT;
	}
	interpreter_enter_stack(climb, python->thread);
	return STEP_ON;
}

/* Visits one context or one stack per step. */
static long interpreter_next_context(__u32 number, struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_interpreter *layout = &python->other;
	__u32 size = layout->frame_size;
	__u8 kind;

	if (!python->frame || python->frame < python->end)
		return interpreter_leave_stack(climb);
	BOUND(size, KERNEL_PYTHON_FRAME_BYTES - 1);
	if (python->count >= KERNEL_PYTHON_FRAMES - 1 ||
	    read_memory(&climb->base, python->bytes, size, python->frame))
		return STEP_END;
	python->frame -= layout->frame_stride;
	kind = python->bytes[0] & layout->contexts.kind_mask;
	if (kind != layout->contexts.kind && kind != layout->contexts.other_kind)
		return STEP_ON;
	interpreter_add(python, python_field(python, layout->frame_code),
			!python_field(python, layout->frame_mark));
	python->at = python_field(python, layout->frame_at);
	return STEP_ON;
}

/* Starts from the holder in `frame`. */
ALWAYS_INLINE void interpreter_take_contexts(struct python_climb *climb)
{
	struct python_walk *python = climb->python;
	const struct kernel_contexts *contexts = &python->other.contexts;
	__u64 holder = python->frame, stack;

	if (!holder)
		return;
	python->at = python_word(climb, holder + contexts->at);
	stack = python_word(climb, holder + contexts->stack);
	if (!stack)
		return;
	interpreter_enter_stack(climb, stack);
	bpf_loop(CONTEXTS_MAX, interpreter_next_context, climb, 0);
	if (!python->thread)
		interpreter_add(python, KERNEL_OUTSIDE, 1);
}

/* Walks frames reached from the thread. */
ALWAYS_INLINE void interpreter_take_listed(struct python_climb *climb, __u32 pid, __u32 tid)
{
	const struct kernel_interpreter *layout = &climb->python->other;

	if (layout->thread_next != KERNEL_NO_STEP)
		interpreter_find_thread(climb, tid);
	else if (pid == tid)
		climb->python->frame = interpreter_start(climb);
	if (layout->frames == KERNEL_FRAMES_CONTEXTS) {
		interpreter_take_contexts(climb);
		return;
	}
	interpreter_find_frame(climb);
	bpf_loop(KERNEL_PYTHON_FRAMES, interpreter_next_frame, climb, 0);
}

ALWAYS_INLINE void interpreter_take_frames(struct python_climb *climb, __u32 pid, __u32 tid)
{
	__u8 frames = climb->python->other.frames;

	if (frames == KERNEL_FRAMES_LUA)
		lua_take(climb);
	else if (frames == KERNEL_FRAMES_LUAJIT)
		luajit_take(climb);
	else
		interpreter_take_listed(climb, pid, tid);
}

/* NULL: the process has no other known interpreter. */
ALWAYS_INLINE struct python_walk *interpreter_take(struct walk *walk, struct task_struct *task)
{
	struct python_climb climb = { .base.task = task };
	__u32 pid = walk->sample.pid, tid = walk->sample.tid, zero = 0;
	struct kernel_interpreter *layout = bpf_map_lookup_elem(&interpreters, &pid);

	climb.python = bpf_map_lookup_elem(&PYTHON_SCRATCH, &zero);
	if (!layout || !climb.python)
		return 0;
	climb.python->other = *layout;
	climb.python->identity = inner_number(task);
	climb.python->count = 0;
	climb.python->frame = 0;
	climb.base.walk = walk;
	interpreter_take_frames(&climb, pid, tid);
	return climb.python;
}

/* Reads the frames of the first known interpreter. */
ALWAYS_INLINE struct python_walk *functions_take(struct walk *walk, struct task_struct *task)
{
	struct python_walk *python;

	if (settings.has_no_interpreter)
		return 0;
	python = python_take(walk, task);
	return python ? python : interpreter_take(walk, task);
}

/* A child has its parent's memory. */
ALWAYS_INLINE void interpreters_pass_on(__u32 to, __u32 from)
{
	struct kernel_python *python = bpf_map_lookup_elem(&pythons, &from);
	struct kernel_interpreter *other = bpf_map_lookup_elem(&interpreters, &from);

	if (python)
		bpf_map_update_elem(&pythons, &to, python, BPF_ANY);
	if (other)
		bpf_map_update_elem(&interpreters, &to, other, BPF_ANY);
}

ALWAYS_INLINE void interpreters_forget(__u32 pid)
{
	bpf_map_delete_elem(&pythons, &pid);
	bpf_map_delete_elem(&interpreters, &pid);
}

/*
 * The frames of Python: the runtime leads to its interpreters, these to their threads, and a thread
 * to its chain of frames.
 */
#pragma once

#include "kernel/interpreters/chain.h"

#define PYTHON_THREADS_MAX 2048 /* steps over threads and interpreters */

#if defined(__TARGET_ARCH_x86)

/* The interpreter stores pthread_self(): the thread pointer. */
ALWAYS_INLINE __u64 python_identity(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

ALWAYS_INLINE __u64 python_thread_identity(struct chain_climb *climb, __u64 thread)
{
	return chain_word(climb, thread + climb->chain->layout.python.thread_id);
}

#else

/* The interpreter stores the kernel's thread ID, or a pointer to it. */
ALWAYS_INLINE __u64 python_identity(struct task_struct *task)
{
	return inner_number(task);
}

ALWAYS_INLINE __u64 python_thread_identity(struct chain_climb *climb, __u64 thread)
{
	const struct kernel_python *python = &climb->chain->layout.python;
	__u64 id = chain_word(climb, thread + python->thread_id);

	return id && python->thread_number ? (__u32)chain_word(climb, id + python->thread_number)
					   : id;
}

#endif

/* The innermost frame of a thread, if it is the right thread and runs Python now. */
ALWAYS_INLINE __u64 python_first_frame(struct chain_climb *climb, __u64 thread)
{
	const struct kernel_python *python = &climb->chain->layout.python;
	__u64 frame;

	if (python_thread_identity(climb, thread) != climb->chain->identity)
		return 0;
	frame = chain_word(climb, thread + python->thread_frame);
	return frame && python->has_control ? chain_word(climb, frame + python->control_frame)
					    : frame;
}

static long python_next_thread(__u32 number, struct chain_climb *climb)
{
	const struct kernel_python *python = &climb->chain->layout.python;
	struct chain *chain = climb->chain;
	__u64 interpreter;

	if (!chain->thread) {
		interpreter = chain_word(climb, chain->next);
		chain->next = interpreter + python->interpreter_next;
		if (interpreter)
			chain->thread =
				chain_word(climb, interpreter + python->interpreter_threads);
		return interpreter ? STEP_ON : STEP_END;
	}
	chain->frame = python_first_frame(climb, chain->thread);
	if (chain->frame)
		return STEP_END;
	chain->thread = chain_word(climb, chain->thread + python->thread_next);
	return STEP_ON;
}

ALWAYS_INLINE void python_find_thread(struct chain_climb *climb, __u32 tid)
{
	struct chain *chain = climb->chain;
	__u64 *known = bpf_map_lookup_elem(&interpreter_threads, &tid);

	chain->frame = known ? python_first_frame(climb, *known) : 0;
	if (chain->frame)
		return;
	chain->thread = 0;
	chain->next = climb->chain->layout.python.interpreters;
	bpf_loop(PYTHON_THREADS_MAX, python_next_thread, climb, 0);
	if (chain->frame)
		bpf_map_update_elem(&interpreter_threads, &tid, &chain->thread, BPF_ANY);
}

static long python_next_frame(__u32 number, struct chain_climb *climb)
{
	const struct kernel_python *python = &climb->chain->layout.python;
	struct chain *chain = climb->chain;
	__u64 mark = python->frame_mark;

	if (!chain->frame || chain_read_frame(climb, chain, python->frame_size))
		return STEP_END;
	BOUND(mark, INTERPRETED_FRAME_BYTES - 1);
	chain_add(chain, chain_field(chain, python->frame_code),
		  chain_field(chain, python->frame_at), chain->bytes[mark]);
	chain->frame = chain_field(chain, python->frame_previous);
	return STEP_ON;
}

ALWAYS_INLINE void python_take(struct chain_climb *climb, __u32 tid)
{
	climb->chain->identity = python_identity(climb->base.task);
	python_find_thread(climb, tid);
	bpf_loop(INTERPRETED_FRAMES_MAX, python_next_frame, climb, 0);
}

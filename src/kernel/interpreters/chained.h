/*
 * The frames of Ruby and PHP: a chain, or a list, to which the interpreter's thread leads.
 */
#pragma once

#include "kernel/interpreters/chain.h"

#define CHAINED_THREADS_MAX 2048

/* 0: unreadable. */
ALWAYS_INLINE __u64 chained_step(struct chain_climb *climb, __u64 from, __u16 offset)
{
	if (!from || offset == KERNEL_NO_STEP)
		return from;
	return chain_word(climb, from + offset);
}

ALWAYS_INLINE int chained_is_thread(struct chain_climb *climb, __u64 thread)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 native = chained_step(climb, thread, layout->thread_native);

	return native && (__u32)chain_word(climb, native + layout->thread_id) ==
				 (__u32)climb->chain->identity;
}

/* next: the first thread of the ring. */
static long chained_next_thread(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	if (chained_is_thread(climb, chain->thread)) {
		chain->frame = chain->thread;
		return STEP_END;
	}
	chain->thread = chained_step(climb, chain->thread, climb->chain->layout.thread_next);
	return chain->thread && chain->thread != chain->next ? STEP_ON : STEP_END;
}

ALWAYS_INLINE __u64 chained_start(struct chain_climb *climb)
{
	__u64 root = chain_word(climb, climb->chain->layout.root);

	return chained_step(climb, root, climb->chain->layout.start);
}

/* Sets `frame` to the thread; 0: it is no thread of the interpreter. */
ALWAYS_INLINE void chained_find_thread(struct chain_climb *climb, __u32 tid)
{
	struct chain *chain = climb->chain;
	__u64 *known = bpf_map_lookup_elem(&interpreter_threads, &tid);

	chain->frame = known && chained_is_thread(climb, *known) ? *known : 0;
	if (chain->frame)
		return;
	chain->thread = chained_start(climb);
	chain->next = chain->thread;
	bpf_loop(CHAINED_THREADS_MAX, chained_next_thread, climb, 0);
	if (chain->frame)
		bpf_map_update_elem(&interpreter_threads, &tid, &chain->frame, BPF_ANY);
}

/* Finds the thread's innermost frame. The outermost entry of a stack is no function's. */
ALWAYS_INLINE void chained_find_frame(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 holder = chained_step(climb, chain->frame, layout->thread_holder);

	chain->frame = chained_step(climb, holder, layout->holder_frame);
	chain->end = ~0ull;
	if (holder && layout->frame_stride)
		chain->end = chain_word(climb, holder + layout->holder_stack) +
			     chain_word(climb, holder + layout->holder_words) * 8 -
			     layout->frame_stride;
}

ALWAYS_INLINE __u64 chained_mark(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 word = chain_field(climb->chain, layout->frame_mark);

	if (layout->is_mark_behind)
		word = chain_word(climb, word);
	return (word & layout->mark_bits) != 0;
}

ALWAYS_INLINE __u64 chained_at(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 at = chain_field(climb->chain, layout->frame_at);

	if (layout->line != KERNEL_NO_STEP)
		at = at ? (__u32)chain_word(climb, at + layout->line) : 0;
	return at;
}

ALWAYS_INLINE __u64 chained_code(struct chain_climb *climb)
{
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u64 code = chain_field(climb->chain, layout->frame_code);

	if (!code || layout->code_name == KERNEL_NO_STEP ||
	    chain_word(climb, code + layout->code_name))
		return code;
	return chain_word(climb, code + layout->code_file) | KERNEL_OUTSIDE;
}

static long chained_next_frame(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;

	if (!chain->frame || chain->frame >= chain->end ||
	    chain_read_frame(climb, chain, layout->frame_size))
		return STEP_END;
	chain_add(chain, chained_code(climb), chained_at(climb), chained_mark(climb));
	chain->frame = layout->frame_stride ? chain->frame + layout->frame_stride
					    : chain_field(chain, layout->frame_previous);
	return STEP_ON;
}

/* Sets `frame` to the interpreter's state of this thread; 0: it has none. */
ALWAYS_INLINE void chained_find(struct chain_climb *climb, __u32 pid, __u32 tid)
{
	climb->chain->identity = inner_number(climb->base.task);
	if (climb->chain->layout.thread_next != KERNEL_NO_STEP)
		chained_find_thread(climb, tid);
	else if (pid == tid)
		climb->chain->frame = chained_start(climb);
}

ALWAYS_INLINE void chained_take(struct chain_climb *climb)
{
	chained_find_frame(climb);
	bpf_loop(INTERPRETED_FRAMES_MAX, chained_next_frame, climb, 0);
}

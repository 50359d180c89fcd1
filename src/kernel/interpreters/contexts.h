/*
 * The frames of Perl: contexts in stacks, of which those of functions are kept.
 */
#pragma once

#include "kernel/interpreters/chain.h"

#define CONTEXTS_MAX (4 * INTERPRETED_FRAMES_MAX) /* contexts and stacks */

ALWAYS_INLINE void contexts_enter_stack(struct chain_climb *climb, __u64 stack)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__s32 last = (__s32)chain_word(climb, stack + layout->contexts.last);

	chain->thread = stack;
	chain->before = chain->count;
	chain->end = chain_word(climb, stack + layout->contexts.first);
	chain->frame = last < 0 ? 0 : chain->end + (__u64)last * layout->frame_stride;
}

/* C code called the function that entered this stack; top-level code called the first stack's. */
ALWAYS_INLINE long contexts_leave_stack(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;

	chain->thread = chain_word(climb, chain->thread + climb->chain->layout.contexts.previous);
	if (!chain->thread)
		return STEP_END;
	if (chain->count > chain->before)
		chain_mark_last(chain);
	contexts_enter_stack(climb, chain->thread);
	return STEP_ON;
}

/* Visits one context or one stack per step. */
static long contexts_next(__u32 number, struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_interpreter *layout = &climb->chain->layout;
	__u8 kind;

	if (!chain->frame || chain->frame < chain->end)
		return contexts_leave_stack(climb);
	if (chain->count >= INTERPRETED_FRAMES_MAX - 1 ||
	    chain_read_frame(climb, chain, layout->frame_size))
		return STEP_END;
	chain->frame -= layout->frame_stride;
	kind = chain->bytes[0] & layout->contexts.kind_mask;
	if (kind != layout->contexts.kind && kind != layout->contexts.other_kind)
		return STEP_ON;
	chain_add(chain, chain_field(chain, layout->frame_code), chain->at,
		  !chain_field(chain, layout->frame_mark));
	chain->at = chain_field(chain, layout->frame_at);
	return STEP_ON;
}

/* Starts from the holder in `frame`; 0: the thread runs nothing. */
ALWAYS_INLINE void contexts_take(struct chain_climb *climb)
{
	struct chain *chain = climb->chain;
	const struct kernel_contexts *contexts = &climb->chain->layout.contexts;
	__u64 holder = chain->frame, stack;

	if (!holder)
		return;
	chain->at = chain_word(climb, holder + contexts->at);
	stack = chain_word(climb, holder + contexts->stack);
	if (!stack)
		return;
	contexts_enter_stack(climb, stack);
	bpf_loop(CONTEXTS_MAX, contexts_next, climb, 0);
	if (!chain->thread)
		chain_add(chain, KERNEL_OUTSIDE, chain->at, 1);
}

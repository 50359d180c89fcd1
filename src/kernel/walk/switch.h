/*
 * Frames to which the stack pointer does not lead: behind signals, and in runtimes with stacks or
 * frames of their own (Go, LuaJIT).
 */
#pragma once

#include "kernel/walk/plan.h"
#include "shared/arch/signal_frame.h"
#include "shared/unwind/goroutine.h"
#include "shared/unwind/luajit.h"

#define SIGNALS_MAX 16 /* signal frames in one stack */

/* Reads all registers from the signal frame that the kernel laid on the stack. */
ALWAYS_INLINE int step_over_signal(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 sp = walk->sp, pc, fp, next;
	__u64 at = walk->sample.kernel_count + walk->sample.user_count - 1;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	/* The trampoline made no call: it is looked up at its own address. */
	BOUND(at, FRAMES_MASK);
	walk->frames[at] += !walk->is_exact;
	if (read_word(climb, sp + SIGNAL_FRAME_GO, &walk->go) ||
	    read_word(climb, sp + SIGNAL_FRAME_FP, &fp) ||
	    read_word(climb, sp + SIGNAL_FRAME_SP, &next) ||
	    read_word(climb, sp + SIGNAL_FRAME_PC, &pc))
		return end_walk(walk, STACK_UNREADABLE);
#ifdef SIGNAL_FRAME_LR
	if (read_word(climb, sp + SIGNAL_FRAME_LR, &walk->lr))
		return end_walk(walk, STACK_UNREADABLE);
#endif
	walk->pc = pc;
	walk->fp = fp;
	walk->sp = next;
	walk->is_exact = 1;
	walk->is_innermost = walk->was_innermost = 0;
	return STEP_ON;
}

/* Reads a word of Go's data, outside of the stack. */
ALWAYS_INLINE __u64 go_word(struct climb *climb, __u64 address)
{
	__u64 word = 0;

	return read_memory(climb, &word, sizeof(word), address) ? 0 : word;
}

/* Continues with the registers of the goroutine for which this thread's own stack works. Without
 * one it is the scheduler, whose stack begins here. */
ALWAYS_INLINE int step_to_goroutine(struct climb *climb, __u32 goroutine_at)
{
	struct walk *walk = climb->walk;
	__u64 words[GO_GOBUF_WORDS] = { 0 }, m = 0, g = 0, own = 0;
	__u32 is_long = goroutine_at == GO_M_GOROUTINE_OF_SEVEN;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	if (walk->go)
		m = go_word(climb, walk->go + GO_G_M);
	if (m && goroutine_at) {
		g = go_word(climb, m + goroutine_at);
		own = go_word(climb, m + GO_M_G0);
	}
	if (!own || (g != walk->go && own != walk->go))
		return end_walk(walk, STACK_SWITCHED);
	if (!g)
		return end_walk(walk, STACK_COMPLETE);
	if (read_memory(climb, words, sizeof(words), g + GO_G_GOBUF) || !words[GO_GOBUF_SP] ||
	    !words[GO_GOBUF_PC])
		return end_walk(walk, STACK_SWITCHED);
	walk->sp = words[GO_GOBUF_SP];
	walk->pc = words[GO_GOBUF_PC];
	walk->lr = is_long ? words[GO_GOBUF_LR_OF_SIX + 1] : words[GO_GOBUF_LR_OF_SIX];
	walk->fp = is_long ? words[GO_GOBUF_BP_OF_SIX + 1] : words[GO_GOBUF_BP_OF_SIX];
	walk->is_exact = 1;
	walk->is_innermost = walk->was_innermost = walk->is_sp_lost = 0;
	return STEP_ON;
}

/* Continues on the stack from which C was called. Changes the row to that of the frame there. */
ALWAYS_INLINE int leave_cgo(struct climb *climb, struct unwind_row *row)
{
	struct walk *walk = climb->walk;
	__u64 kept = walk->sp + (__u64)(row->cfa & 0xff) * 8, g, depth;
	__u16 words = row->cfa >> 8;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	if (read_word(climb, kept, &g) || read_word(climb, kept + GO_DEPTH_FROM_G * 8, &depth))
		return end_walk(walk, STACK_UNREADABLE);
	if (g)
		walk->go = g;
	walk->sp = g ? go_word(climb, g + GO_G_STACK_END) - depth : depth;
	row->kind = UNWIND_SP;
	row->cfa = words + RETURN_ON_STACK;
	row->fp = !words ? UNWIND_FP_SAME : RETURN_ON_STACK ? -2 : -(__s8)words - 1;
	return STEP_ON;
}

/* Continues from Go that C has called back with that C, on the thread's own stack. Inner callbacks
 * come first. Changes the row to that of the frame there. */
ALWAYS_INLINE int leave_callback(struct climb *climb, struct unwind_row *row)
{
	struct walk *walk = climb->walk;
	__u64 sp = walk->called_back, g0;

	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	if (!sp) {
		g0 = walk->go ? go_word(climb, walk->go + GO_G_M) : 0;
		g0 = g0 ? go_word(climb, g0 + GO_M_G0) : 0;
		sp = g0 ? go_word(climb, g0 + GO_G_GOBUF + GO_GOBUF_SP * 8) : 0;
	} else if (read_word(climb, sp, &sp)) {
		sp = 0;
	}
	if (!sp)
		return end_walk(walk, STACK_SWITCHED);
	walk->sp = walk->called_back = sp;
	row->kind = UNWIND_SP;
	return STEP_ON;
}

ALWAYS_INLINE int leave_by_fp(struct walk *walk, struct unwind_row *row)
{
	if (walk->signals++ >= SIGNALS_MAX)
		return end_walk(walk, STACK_CIRCULAR);
	walk->sp = walk->fp;
	row->kind = UNWIND_FP;
	return STEP_ON;
}

struct luajit_search {
	struct climb *climb;
	__u64 found;
};

static long luajit_look(__u32 index, struct luajit_search *search)
{
	__u64 at = search->climb->walk->sp + (__u64)index * 8, state, frame = 0;

	if (read_word(search->climb, at + LUAJIT_FRAME_STATE, &state))
		return STEP_END;
	if (!luajit_may_be_state(state) ||
	    read_memory(search->climb, &frame, sizeof(frame), state + LUAJIT_STATE_FRAME) ||
	    (frame & LUAJIT_FRAME_MASK) != at)
		return STEP_ON;
	search->found = at;
	return STEP_END;
}

/* Keeps the frame for the reader of Lua functions. */
ALWAYS_INLINE void luajit_keep(struct walk *walk, __u16 cfa, __u64 frame)
{
	__u64 at = walk->luajit_count;

	if (at >= LUAJIT_FRAMES)
		return;
	if (!at) {
		walk->is_luajit_exact = walk->is_exact;
		walk->is_luajit_compiled = !(cfa & LUAJIT_ASSEMBLY);
		walk->luajit_number = walk->sample.user_count - 1;
		walk->luajit_fp = walk->fp;
	}
	BOUND(at, LUAJIT_FRAMES - 1);
	walk->luajit[at] = frame;
	walk->luajit_count = at + 1;
}

/* True if sp is that of a LuaJIT frame, even if its state runs another one by now. */
ALWAYS_INLINE int is_luajit_frame(struct climb *climb)
{
	__u64 state, head = 0;

	return !read_word(climb, climb->walk->sp + LUAJIT_FRAME_STATE, &state) &&
	       luajit_may_be_state(state) &&
	       !read_memory(climb, &head, sizeof(head), state + LUAJIT_STATE_HEAD) &&
	       luajit_is_state(head);
}

/* Continues at LuaJIT's frame. Changes the row to that of a frame at sp. */
ALWAYS_INLINE int climb_to_luajit(struct climb *climb, struct unwind_row *row)
{
	struct luajit_search search = { .climb = climb };

	row->kind = UNWIND_SP;
	if (row->cfa & LUAJIT_ASSEMBLY && !climb->walk->is_exact && is_luajit_frame(climb))
		search.found = climb->walk->sp;
	else
		bpf_loop(LUAJIT_REACH, luajit_look, &search, 0);
	if (!search.found)
		return end_walk(climb->walk, STACK_GENERATED);
	luajit_keep(climb->walk, row->cfa, search.found);
	climb->walk->sp = search.found;
	row->cfa &= LUAJIT_SIZE_MASK;
	return STEP_ON;
}

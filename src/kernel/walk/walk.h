/*
 * Walks up a thread's stack by the host's tables, frame by frame.
 */
#pragma once

#include "kernel/walk/switch.h"

#define DOUBT_REACH (8 << 10) /* maximum distance at which a frame is searched for */
#define KNOWN_STEPS 4         /* frames per step if their rules are known; more cost the verifier */

/* Changes the row to one without sp. STEP_END: impossible for this row. */
ALWAYS_INLINE int do_without_sp(struct walk *walk, struct unwind_row *row)
{
	__u8 kind = row->kind & UNWIND_KIND_MASK;

	if (kind == UNWIND_SP && row->kind & UNWIND_FP_HELD) {
		row->kind = UNWIND_FP;
		row->cfa = -row->fp;
		return STEP_ON;
	}
	if (kind == UNWIND_SP || kind == UNWIND_SPECIAL || kind == UNWIND_SIGNAL ||
	    kind == UNWIND_GO_CGO || kind == UNWIND_GO_PUSHED || kind == UNWIND_CONTEXT)
		return end_walk(walk, STACK_NO_RULE);
	return STEP_ON;
}

ALWAYS_INLINE int step_by_plan(struct climb *climb, const struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u64 ra = plan->ra, fp = walk->fp;

	if (plan->cfa < walk->sp ||
	    (plan->cfa == walk->sp && ((RETURN_ON_STACK && plan->ra_at) || !walk->is_exact)))
		return end_walk(walk, STACK_CIRCULAR);
	/* The caller's call has overwritten its link register. */
	if (plan->ra_at ? read_word(climb, plan->ra_at, &ra) : !walk->is_exact)
		return end_walk(walk, STACK_UNREADABLE);
	if (plan->fp_at && read_word(climb, plan->fp_at, &fp))
		return end_walk(walk, STACK_UNREADABLE);
	ra = CODE_ADDRESS(ra);
	if (!ra) /* with a nonzero frame pointer, the stack is being changed */
		return end_walk(walk, plan->cfa == walk->start_stack ? STACK_COMPLETE
				      : !fp                          ? zero_end(walk)
				      : walk->was_guided             ? STACK_NO_TABLE
								     : STACK_NO_MAP);
	walk->pc = ra;
	walk->below = walk->sp;
	walk->sp = plan->cfa;
	walk->is_sp_lost = plan->is_low;
	walk->fp = fp;
	walk->is_exact = 0;
	walk->was_innermost = walk->is_innermost;
	walk->is_innermost = 0;
	return STEP_ON;
}

/* Frames above the innermost one are looked up at the byte before their address. A frame
 * interrupted by a signal has no call there: its address is stored plus one, so that the rule holds
 * for all. */
ALWAYS_INLINE int keep_frame(struct walk *walk)
{
	__u64 at = walk->sample.user_count;

	if (at >= SAMPLE_FRAMES_MAX)
		return end_walk(walk, STACK_CUT);
	walk->sample.user_count = at + 1;
	at += walk->sample.kernel_count;
	BOUND(at, FRAMES_MASK);
	walk->frames[at] = walk->pc + (walk->is_exact && !walk->is_innermost);
	return STEP_ON;
}

/* An address outside of known code is kept only for the innermost frame. */
ALWAYS_INLINE int enter_frame(struct walk *walk, __u64 address)
{
	int is_known = range_find(walk, address);

	if ((is_known || walk->is_innermost) && keep_frame(walk))
		return STEP_END;
	if (is_known)
		return STEP_ON;
	walk->unknown = walk->pc;
	return end_walk(walk, walk->was_guided ? STACK_NO_TABLE : STACK_NO_MAP);
}

/* Keeps the frame and finds its rule. */
ALWAYS_INLINE int enter_frame_with_rule(struct walk *walk, __u64 address, struct unwind_row *ret)
{
	struct known_rule *rule = known_slot(walk, address);

	if (is_known(walk, rule, address) || met_find(walk, address, rule)) {
		*ret = (struct unwind_row){ 0, rule->cfa, rule->fp, rule->kind };
		return keep_frame(walk);
	}
	if (enter_frame(walk, address))
		return STEP_END;
	*ret = row_find(walk, address);
	if (!is_whole(*ret))
		return STEP_ON;
	*rule = (struct known_rule){ address, walk->generation, ret->cfa, ret->fp, ret->kind };
	met_keep(rule);
	return STEP_ON;
}

/* Reads the code at the return address; 0: unreadable. Some C libraries have no rules for the
 * return addresses of signal handlers and threads. */
ALWAYS_INLINE __u64 read_code(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 code = 0;

	if (walk->is_exact || !walk->range.is_file ||
	    read_memory(climb, &code, sizeof(code), walk->pc))
		return 0;
	return code;
}

ALWAYS_INLINE long step_without_rule(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 code = read_code(climb);
	struct plan plan;

	if (code == THREAD_END)
		return end_walk(walk, STACK_COMPLETE);
	if (!walk->is_sp_lost && code == SIGNAL_TRAMPOLINE)
		return step_over_signal(climb);
	if (plan_unframed(climb, &plan) && plan_by_fp(walk, &plan))
		return STEP_END;
	walk->was_guided = 1;
	if (step_by_plan(climb, &plan))
		return STEP_END;
	walk->is_sp_lost = !RETURN_ON_STACK;
	return STEP_ON;
}

/* At its end it jumps to the handler, without a call; before, ra may be of another frame. */
ALWAYS_INLINE void doubt(struct walk *walk, __u8 kind, __u8 was_exact)
{
	if (RETURN_ON_STACK && was_exact && kind != UNWIND_FP) {
		walk->is_exact = 1;
		return;
	}
	if (walk->doubted_ra || walk->sample.flags & SAMPLE_GUESSED)
		return;
	walk->sample.flags |= SAMPLE_GUESSED; /* callers may be missing: fp may be the handler's */
	walk->doubted_ra = walk->pc;
	walk->doubted_sp = walk->sp;
	walk->doubted_fp = walk->fp;
	walk->doubted_count = walk->sample.user_count;
}

static long climb_one(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 address = walk->is_exact ? walk->pc : walk->pc - 1;
	struct plan plan;
	struct unwind_row row;
	__u64 pushed = 0;
	__u8 kind, was_exact = walk->is_exact;

	if (enter_frame_with_rule(walk, address, &row) ||
	    (!RETURN_ON_STACK && walk->is_sp_lost && do_without_sp(walk, &row)))
		return STEP_END;
	kind = row.kind & UNWIND_KIND_MASK;
	if (kind == UNWIND_NONE)
		return step_without_rule(climb);
	walk->was_guided = 0;
	if (kind == UNWIND_END)
		return end_walk(walk, STACK_COMPLETE);
	if (kind == UNWIND_SIGNAL)
		return step_over_signal(climb);
	if (kind == UNWIND_NEWER) {
		walk->unknown = walk->pc;
		return end_walk(walk, STACK_NO_TABLE);
	}
	if (kind == UNWIND_CONTEXT) {
		walk->is_for_host = 1;
		return end_walk(walk, STACK_SWITCHED);
	}
	if (kind == UNWIND_GO_GOBUF)
		return step_to_goroutine(climb, (__u32)row.cfa * 8);
	if (kind == UNWIND_GO_CGO && leave_cgo(climb, &row))
		return STEP_END;
	if (kind == UNWIND_GO_CALLED_BACK && leave_callback(climb, &row))
		return STEP_END;
	if (kind == UNWIND_GO_FP && leave_by_fp(walk, &row))
		return STEP_END;
	if (kind == UNWIND_LUAJIT && climb_to_luajit(climb, &row))
		return STEP_END;
	if (kind == UNWIND_BAD)
		return end_walk(walk, row.cfa == UNWIND_BAD_JIT ? STACK_GENERATED : STACK_NO_RULE);
	if (kind != UNWIND_SPECIAL)
		plan_by_row(walk, row, &plan);
	else if (plan_by_special(climb, row.cfa, &plan))
		return STEP_END;
	if (!RETURN_ON_STACK && kind == UNWIND_GO_PUSHED &&
	    read_word(climb, plan.cfa - 16, &pushed))
		return end_walk(walk, STACK_UNREADABLE);
	if (step_by_plan(climb, &plan))
		return STEP_END;
	if (row.kind & UNWIND_THROWS)
		doubt(walk, kind, was_exact);
	if (kind == UNWIND_GO_PUSHED) {
		walk->lr =
			pushed; /* the caller has not made a call: this is its current position */
		walk->is_exact = 1;
	}
	return STEP_ON;
}

struct position {
	__u64 pc, sp, fp;
};

/* Steps from a caller to its caller, if everything needed is in the walk's memory. STEP_END: it is
 * not, or something is odd; climb_one handles that. */
ALWAYS_INLINE int climb_known(struct walk *walk, struct position *at)
{
	const struct known_rule *rule = known_slot(walk, at->pc - 1);
	struct position next = { .fp = at->fp };
	__u8 kind = RETURN_ON_STACK ? rule->kind : rule->kind & ~UNWIND_FP_HELD;
	__u64 fp_at;

	if (!is_known(walk, rule, at->pc - 1) || (kind != UNWIND_SP && kind != UNWIND_FP) ||
	    (!RETURN_ON_STACK && rule->fp == UNWIND_FP_SAME))
		return STEP_END;
	next.sp = (kind == UNWIND_FP ? at->fp : at->sp) + (__u64)rule->cfa * 8;
	fp_at = next.sp + (__s64)rule->fp * 8;
	if (next.sp <= at->sp ||
	    word_at_hand(walk, RETURN_ON_STACK ? next.sp - 8 : fp_at + 8, &next.pc) ||
	    (rule->fp != UNWIND_FP_SAME && word_at_hand(walk, fp_at, &next.fp)))
		return STEP_END;
	next.pc = CODE_ADDRESS(next.pc);
	if (!next.pc)
		return STEP_END;
	*at = next;
	return STEP_ON;
}

/* Most frames are of this kind. Does several in a row, with their common values in registers. */
ALWAYS_INLINE void climb_all_known(struct walk *walk)
{
	struct position here = { walk->pc, walk->sp, walk->fp };
	__u64 count = walk->sample.user_count, at, pc, sp;

	for (int i = 0; i < KNOWN_STEPS && count < SAMPLE_FRAMES_MAX; i++) {
		pc = here.pc;
		sp = here.sp;
		if (climb_known(walk, &here))
			break;
		walk->below = sp;
		walk->was_innermost = 0;
		at = walk->sample.kernel_count + count++;
		BOUND(at, FRAMES_MASK);
		walk->frames[at] = pc;
		walk->was_guided = 0;
	}
	walk->pc = here.pc;
	walk->sp = here.sp;
	walk->fp = here.fp;
	walk->sample.user_count = count;
}

ALWAYS_INLINE long go_on_at(struct walk *walk, __u64 sp)
{
	walk->seeking = walk->unknown = 0;
	walk->sample.flags |= SAMPLE_GUESSED;
	walk->sample.end = STACK_CUT;
	walk->pc = walk->doubted_ra;
	walk->sp = sp;
	walk->fp = walk->doubted_fp;
	walk->is_exact = walk->is_innermost = walk->was_guided = walk->is_sp_lost = 0;
	walk->was_innermost = 0;
	walk->below = ~0ull;
	return STEP_ON;
}

/* One word per step. Finds the innermost of several calls that return there: its callers are also
 * those of the others. Where calls do not push, its frame ends somewhere behind that word: tries
 * all possible ends one after the other. */
ALWAYS_INLINE long seek(struct climb *climb)
{
	struct walk *walk = climb->walk;
	__u64 at = walk->seeking, word;

	if (at - walk->doubted_sp >= DOUBT_REACH || read_word(climb, at, &word))
		return STEP_END;
	walk->seeking = at + 8;
	if (CODE_ADDRESS(word) != walk->doubted_ra)
		return STEP_ON;
	at += 8;
	if (!RETURN_ON_STACK) {
		at = (at + 15) & ~15ull;
		walk->tried_sp = at;
	}
	go_on_at(walk, at);
	if (RETURN_ON_STACK)
		walk->doubted_ra = 0;
	return STEP_ON;
}

static long walk_step(__u32 number, struct climb *climb)
{
	struct walk *walk = climb->walk;

	if (walk->seeking)
		return seek(climb);
	if (!walk->is_exact && !walk->is_sp_lost)
		climb_all_known(walk);
	if (climb_one(climb) == STEP_ON)
		return STEP_ON;
	if (!walk->doubted_ra || walk->sample.end == STACK_COMPLETE)
		return STEP_END;
	walk->sample.user_count = walk->doubted_count;
	if (!RETURN_ON_STACK && walk->tried_sp) {
		walk->tried_sp += 16;
		return walk->tried_sp - walk->doubted_sp < DOUBT_REACH
			       ? go_on_at(walk, walk->tried_sp)
			       : STEP_END;
	}
	walk->seeking = walk->doubted_sp;
	return STEP_ON;
}

/* Starts from walk->registers. */
ALWAYS_INLINE void walk_up(struct walk *walk, struct task_struct *task,
			   const struct kernel_process *process)
{
	struct climb climb = { walk, task };
	/* One read, for consistent values. */
	__u64 part = *(const volatile __u64 *)process;

	walk->first_range = (__u16)part;
	walk->range_count = (__u16)(part >> 16);
	walk->generation = part >> 32;
	walk->start_stack = process->start_stack;
	walk->pc = REGISTERS_PC(&walk->registers);
	walk->sp = REGISTERS_SP(&walk->registers);
	walk->fp = REGISTERS_FP(&walk->registers);
	walk->lr = REGISTERS_LR(&walk->registers);
	walk->go = register_by_number(walk, GO_REGISTER_G);
	walk->called_back = 0;
	walk->is_exact = 1;
	walk->is_innermost = 1;
	walk->was_innermost = 0;
	walk->below = 0;
	walk->was_guided = 0;
	walk->is_sp_lost = 0;
	walk->signals = 0;
	walk->is_for_host = 0;
	walk->luajit_count = 0;
	walk->doubted_ra = 0;
	walk->tried_sp = 0;
	walk->seeking = 0;
	walk->unknown = 0;
	walk->chunk_size = 0;
	walk->range.end = 0;
	walk->sample.end = STACK_CUT;
	walk->sample.user_count = 0;
	bpf_loop(SAMPLE_FRAMES_MAX + 1, walk_step, &climb, 0);
}

ALWAYS_INLINE void take_kernel_frames(struct walk *walk, void *context, __u64 skipped)
{
	long size = 0;

	if (settings.with_kernel_frames)
		size = bpf_get_stack(context, walk->frames, KERNEL_FRAMES_MAX * 8, skipped);
	walk->sample.kernel_count = size > 0 ? (__u64)size / 8 : 0;
}

/* Reads the registers that the thread had when it entered the kernel. */
ALWAYS_INLINE int take_saved_registers(struct walk *walk, struct task_struct *task)
{
	return bpf_probe_read_kernel(&walk->registers, sizeof(walk->registers),
				     (void *)bpf_task_pt_regs(task));
}

ALWAYS_INLINE __u64 record_size(const struct walk *walk)
{
	__u64 frames = walk->sample.kernel_count + walk->sample.user_count;

	BOUND(frames, FRAMES_MASK);
	return sizeof(struct sample) + frames * sizeof(__u64);
}

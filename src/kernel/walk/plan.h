/*
 * Finds the parts of a frame, by its rule or by its code.
 */
#pragma once

#include "kernel/walk/rules.h"

#define FP_REACH (1 << 20) /* larger frames are not accepted by the frame-pointer rule */

/* The locations of a frame's parts. */
struct plan {
	__u64 cfa;
	__u64 fp_at, ra_at; /* 0: still in the register */
	__u64 ra;           /* its value, if ra_at is 0 */
	__u8 is_low;        /* the CFA may be higher */
};

/* A chain that ended in 0, which does not prove that a stack begins here. */
ALWAYS_INLINE enum stack_end zero_end(const struct walk *walk)
{
	return walk->range.is_file ? STACK_ZERO : STACK_GENERATED;
}

/* Code without rules may keep frame pointers, as most JIT code does. A chain that ends in 0, or
 * reaches a function of a file with 0, ends incomplete: that 0 may be a register used for something
 * else. Where calls do not push, the frame may extend above the two words at fp. */
ALWAYS_INLINE int plan_by_fp(struct walk *walk, struct plan *plan)
{
	__u64 fp = walk->fp;

	if (!fp && !walk->is_exact && (walk->was_guided || walk->range.is_file))
		return end_walk(walk, zero_end(walk));
	if (fp < walk->sp || fp - walk->sp > FP_REACH || (fp & 7))
		return end_walk(walk, STACK_NO_TABLE);
	plan->cfa = fp + 16;
	plan->fp_at = fp;
	plan->ra_at = fp + 8;
	plan->ra = 0;
	plan->is_low = 0;
	return STEP_ON;
}

struct ahead {
	struct walk *walk;
	struct unframed_look look;
};

static long take_word(__u32 index, struct ahead *ahead)
{
	return unframed_take(&ahead->look, ahead->walk->code.words[index & (UNFRAMED_WORDS - 1)]);
}

/* unframed_aarch64() by bpf_loop(): verifying an ordinary loop took most of a second. */
ALWAYS_INLINE struct unframed look_ahead(struct walk *walk)
{
	struct ahead ahead = { .walk = walk };

	bpf_loop(UNFRAMED_WORDS, take_word, &ahead, 0);
	return unframed_judge(&ahead.look);
}

/* For code before its frame is set up, or after its removal. STEP_END: the frame is there. */
ALWAYS_INLINE int plan_unframed(struct climb *climb, struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u32 size = PAGE_SIZE - (walk->pc & (PAGE_SIZE - 1));
	struct unframed unframed;
	__u64 at, fp;

	if (!walk->is_exact)
		return STEP_END;
	if (size < sizeof(walk->code))
		__builtin_memset(&walk->code, 0, sizeof(walk->code));
	else
		size = sizeof(walk->code);
	if (read_memory(climb, &walk->code, size, walk->pc))
		return STEP_END;
	unframed = RETURN_ON_STACK ? unframed_x86_64(walk->code.bytes) : look_ahead(walk);
	if (unframed.kind == UNFRAMED_NOT)
		return STEP_END;
	at = walk->sp + (__s64)unframed.distance;
	*plan = (struct plan){ .cfa = at, .ra = walk->lr };
	if (unframed.kind == UNFRAMED_BARE && RETURN_ON_STACK)
		*plan = (struct plan){ .cfa = at + 8, .ra_at = at };
	if (unframed.kind == UNFRAMED_BARE)
		return STEP_ON;
	*plan = (struct plan){ .cfa = at + 16, .fp_at = at, .ra_at = at + 8 };
	return read_word(climb, at, &fp) || (!RETURN_ON_STACK && fp != walk->fp) ? STEP_END
										 : STEP_ON;
}

ALWAYS_INLINE __u64 register_by_number(const struct walk *walk, __u64 number)
{
	static const volatile __u8 slots[DWARF_REGISTERS] = DWARF_SLOTS;
	__u64 slot;

	BOUND(number, DWARF_REGISTERS - 1);
	slot = slots[number];
	return slot < sizeof(struct pt_regs) / 8 ? ((const __u64 *)&walk->registers)[slot] : 0;
}

/* 0: still in the register. */
ALWAYS_INLINE __u64 address_of_saved(const struct walk *walk, const struct plan *plan, __u8 saved,
				     __s32 offset)
{
	__u64 base = plan->cfa;

	if (saved == UNWIND_SAVED_NOT)
		return 0;
	if (saved == UNWIND_SAVED_AT_BASE)
		base = walk->fp;
	if (saved == UNWIND_SAVED_AT_SP)
		base = walk->sp;
	return base + (__s64)offset;
}

ALWAYS_INLINE int plan_by_special(struct climb *climb, __u32 number, struct plan *plan)
{
	struct walk *walk = climb->walk;
	__u32 key = walk->range.special + number;
	struct unwind_special *special = bpf_map_lookup_elem(&specials, &key);
	__u64 base = walk->sp;

	if (!special)
		return end_walk(walk, STACK_NO_RULE);
	if (special->base == UNWIND_BASE_FP)
		base = walk->fp;
	if (special->base >= UNWIND_BASE_REGISTER) {
		if (!walk->is_innermost && !(special->is_kept && walk->was_innermost))
			return end_walk(walk, STACK_NO_RULE);
		base = register_by_number(walk, special->base - UNWIND_BASE_REGISTER);
	}
	base += (__s64)special->offset;
	/* Below sp a callee saves registers: this one is not saved yet, or no longer. */
	if (special->is_dereferenced && special->offset < 0 && special->base == UNWIND_BASE_SP &&
	    !walk->is_exact && base < walk->below)
		return end_walk(walk, STACK_NO_RULE);
	if (special->is_dereferenced && read_word(climb, base, &base))
		return end_walk(walk, STACK_UNREADABLE);
	plan->cfa = base + (__s64)special->addition;
	if (special->is_floored) {
		base = special->fp_saved == UNWIND_SAVED_AT_BASE ? walk->fp + 16 : walk->sp;
		plan->cfa = plan->cfa < base ? base : plan->cfa;
	}
	plan->is_low = special->is_low;
	plan->fp_at = address_of_saved(walk, plan, special->fp_saved, special->fp_offset);
	plan->ra = walk->lr;
	if (special->ra_saved == UNWIND_SAVED_IN) {
		plan->ra_at = 0;
		plan->ra = register_by_number(walk, special->ra_offset);
		if (!walk->is_innermost && !(unwind_keeps_ra(special) && walk->was_innermost))
			return end_walk(walk, STACK_NO_RULE);
		walk->is_exact =
			1; /* for that step: it has no frame, and its registers are known */
		return STEP_ON;
	}
	if (special->ra_saved == UNWIND_SAVED_BEHIND) {
		if (!walk->is_innermost)
			return end_walk(walk, STACK_NO_RULE);
		plan->ra_at =
			register_by_number(walk, special->ra_register) + (__s64)special->ra_offset;
		return STEP_ON;
	}
	plan->ra_at = address_of_saved(walk, plan, special->ra_saved, special->ra_offset);
	return STEP_ON;
}

/* Plans a row of one of the plain kinds. */
ALWAYS_INLINE void plan_by_row(const struct walk *walk, struct unwind_row row, struct plan *plan)
{
	__u8 kind = row.kind & UNWIND_KIND_MASK;
	__u64 cfa = (kind == UNWIND_FP ? walk->fp : walk->sp) + (__u64)row.cfa * 8;

	if (kind == UNWIND_PLT)
		cfa = walk->sp + 8 + ((walk->pc & 15) >= row.cfa ? 8 : 0);
	plan->cfa = cfa;
	plan->fp_at = row.fp == UNWIND_FP_SAME ? 0 : cfa + (__s64)row.fp * 8;
	plan->ra_at = cfa - 8;
	plan->ra = walk->lr;
	plan->is_low = 0;
	if (RETURN_ON_STACK)
		return;
	plan->ra_at = row.kind & UNWIND_RA_IN_REGISTER ? 0 : plan->fp_at + 8;
	if (row.kind & UNWIND_RA_ALONE) {
		plan->ra_at = plan->fp_at;
		plan->fp_at = 0;
	}
}

/*
 * Follows a frame from one instruction to the next.
 */
#include "host/java/arch/x86_64/frame_state.h"

#include <string.h>

#define WORD         8
#define ALIGNMENT    16
#define REGISTER_RDX 2u
#define REGISTER_R13 13u
#define FARTHEST     (1 << 24) /* no frame is larger */

struct frame_state frame_at_entry(void)
{
	return (struct frame_state){ .cfa_kind = CFA_AT,
				     .has_sp = true,
				     .sp = -WORD,
				     .ra = -WORD,
				     .ra_register = REGISTER_NONE,
				     .ra_copy = REGISTER_NONE,
				     .sender_register = REGISTER_NONE };
}

struct frame_state frame_of_size(uint32_t size)
{
	struct frame_state frame = frame_at_entry();

	frame.sp = -(int32_t)size;
	frame.is_fp_saved = true;
	frame.saved_fp = -2 * WORD;
	return frame;
}

struct frame_state frame_at_fp(void)
{
	struct frame_state frame = frame_of_size(2 * WORD);

	frame.has_sp = false;
	frame.has_fp = true;
	frame.fp = frame.saved_fp;
	return frame;
}

struct frame_state frame_at_exception(void)
{
	struct frame_state frame = frame_at_entry();

	frame.sp = 0;
	frame.ra_register = REGISTER_RDX;
	return frame;
}

struct frame_state frame_at_interpreted_entry(void)
{
	struct frame_state frame = frame_at_entry();

	frame.cfa_kind = CFA_REGISTER;
	frame.cfa = REGISTER_R13;
	return frame;
}

struct frame_state frame_interpreted(void)
{
	struct frame_state frame = frame_at_entry();

	frame.cfa_kind = CFA_SENDER;
	frame.has_sp = false;
	frame.has_fp = true;
	frame.fp = -2 * WORD;
	frame.is_fp_saved = true;
	frame.saved_fp = frame.fp;
	return frame;
}

struct frame_state frame_lost(void)
{
	struct frame_state frame = frame_at_entry();

	frame.cfa_kind = CFA_LOST;
	frame.has_sp = false;
	return frame;
}

/* rsp has an unknown value. */
static void lose_sp(struct frame_state *frame)
{
	frame->has_sp = false;
	if (!(frame->has_fp && frame->cfa_kind != CFA_LOST) && frame->cfa_kind == CFA_AT)
		*frame = frame_lost();
}

static void move_sp(struct frame_state *frame, int64_t by)
{
	int64_t sp = frame->sp + by;

	if (!frame->has_sp)
		return;
	if (sp > FARTHEST || sp < -FARTHEST)
		lose_sp(frame);
	else
		frame->sp = (int32_t)sp;
}

/* rbp has an unknown value; its old one is saved, or lost. */
static void lose_fp(struct frame_state *frame)
{
	frame->has_fp = false;
	if (frame->cfa_kind == CFA_SENDER || (frame->cfa_kind == CFA_AT && !frame->has_sp) ||
	    !frame->is_fp_saved)
		*frame = frame_lost();
}

static void step_push(struct frame_state *frame, unsigned from)
{
	move_sp(frame, -WORD);
	if (from == REGISTER_RBP && !frame->is_fp_saved) {
		frame->is_fp_saved = frame->has_sp;
		frame->saved_fp = frame->sp;
	}
	if (from != REGISTER_NONE && from == frame->ra_register && frame->has_sp) {
		frame->ra_register = REGISTER_NONE;
		frame->ra = frame->sp;
		if (frame->cfa_kind == CFA_AT)
			frame->cfa = MAX(frame->cfa, frame->ra + WORD);
	}
	/* The frame of an interpreted method has the caller's rsp below its rbp. */
	if (frame->cfa_kind == CFA_REGISTER && frame->has_fp && from == (unsigned)frame->cfa &&
	    frame->has_sp && frame->sp == frame->fp - WORD) {
		frame->cfa_kind = CFA_SENDER;
		frame->has_sp = false;
	}
	frame->was_fp_pushed = from == REGISTER_RBP;
}

/* A register that meant something has another value. */
static void forget_register(struct frame_state *frame, unsigned number)
{
	if (number == frame->ra_copy)
		frame->ra_copy = REGISTER_NONE;
	if (number == frame->sender_register)
		frame->sender_register = REGISTER_NONE;
	if (number == frame->ra_register ||
	    (frame->cfa_kind == CFA_REGISTER && number == (unsigned)frame->cfa))
		*frame = frame_lost();
	else if (number == REGISTER_RBP)
		lose_fp(frame);
}

static void step_pop(struct frame_state *frame, unsigned to)
{
	bool is_ra = frame->has_sp && frame->ra_register == REGISTER_NONE && frame->ra == frame->sp,
	     is_fp = frame->has_sp && frame->is_fp_saved && frame->saved_fp == frame->sp;

	if (is_fp && to == REGISTER_RBP) {
		frame->is_fp_saved = frame->has_fp = false;
	} else if (to != REGISTER_NONE) {
		forget_register(frame, to);
	}
	if (to == REGISTER_RSP) {
		lose_sp(frame);
		return;
	}
	if (is_ra && to != REGISTER_NONE)
		frame->ra_register = to;
	else if (is_ra)
		*frame = frame_lost();
	move_sp(frame, WORD);
}

/* Only code with a frame pointer uses `leave`: rbp points to where its old value was saved. */
static void step_leave(struct frame_state *frame)
{
	if (!frame->has_fp && (!frame->is_fp_saved || frame->cfa_kind != CFA_AT)) {
		*frame = frame_lost();
		return;
	}
	frame->sp = frame->has_fp ? frame->fp : frame->saved_fp;
	frame->has_sp = true;
	if (frame->cfa_kind == CFA_SENDER) {
		frame->cfa_kind = frame->sender_register == REGISTER_NONE ? CFA_LOST : CFA_REGISTER;
		frame->cfa = (int32_t)frame->sender_register;
	}
	step_pop(frame, REGISTER_RBP);
}

static void move_to_sp(struct frame_state *frame, unsigned from)
{
	if (from == REGISTER_RBP && frame->has_fp) {
		frame->has_sp = true;
		frame->sp = frame->fp;
	} else if (frame->cfa_kind == CFA_REGISTER && from == (unsigned)frame->cfa &&
		   frame->ra_register != REGISTER_NONE && !frame->is_fp_saved) {
		frame->cfa_kind = CFA_AT; /* the caller's rsp again */
		frame->has_sp = true;
		frame->cfa = frame->sp = 0;
	} else {
		lose_sp(frame);
	}
}

static void step_move(struct frame_state *frame, const struct instruction *it, bool was_pushed)
{
	if (it->to == REGISTER_RSP) {
		move_to_sp(frame, it->from);
		return;
	}
	if (it->to != REGISTER_RBP || it->from != REGISTER_RSP) {
		forget_register(frame, it->to);
		return;
	}
	if (frame->cfa_kind == CFA_LOST && was_pushed) {
		/* A frame begins where nothing was known. */
		*frame = frame_of_size(2 * WORD);
		frame->has_fp = true;
		frame->fp = frame->sp;
		return;
	}
	if (!frame->is_fp_saved)
		lose_fp(frame);
	frame->has_fp = frame->has_sp;
	frame->fp = frame->sp;
}

static void step_load(struct frame_state *frame, const struct instruction *it)
{
	bool is_of_sp = it->from == REGISTER_RSP && frame->has_sp;

	if (it->to == REGISTER_RBP && is_of_sp && frame->is_fp_saved &&
	    frame->sp + it->value == frame->saved_fp) {
		frame->is_fp_saved = frame->has_fp = false;
		return;
	}
	forget_register(frame, it->to);
	if (it->to == REGISTER_RSP)
		lose_sp(frame);
	else if (is_of_sp && frame->sp + it->value == frame->ra)
		frame->ra_copy = it->to;
	else if (it->from == REGISTER_RBP && it->value == -WORD && frame->cfa_kind == CFA_SENDER)
		frame->sender_register = it->to;
}

static void step_store(struct frame_state *frame, const struct instruction *it)
{
	if (it->to != REGISTER_RSP || !frame->has_sp || it->value < 0 || it->value > FARTHEST)
		return;
	if (it->from == REGISTER_RBP && !frame->is_fp_saved) {
		frame->is_fp_saved = true;
		frame->saved_fp = frame->sp + (int32_t)it->value;
	}
	if (it->from == frame->ra_register) {
		frame->ra_register = REGISTER_NONE;
		frame->ra = frame->sp + (int32_t)it->value;
	}
}

/* Code with the return address in a register stores it where the next calling convention wants
 * it. */
static void align_sp(struct frame_state *frame)
{
	unsigned copy = frame->ra_register != REGISTER_NONE ? frame->ra_register : frame->ra_copy;

	*frame = frame_at_entry();
	frame->sp = 0;
	frame->ra_register = copy;
}

static void step_set(struct frame_state *frame, unsigned to)
{
	if (to != REGISTER_RSP)
		forget_register(frame, to);
	else
		lose_sp(frame);
}

static void step_align(struct frame_state *frame, const struct instruction *it,
		       struct frame_habits habits)
{
	bool is_sp = it->to == REGISTER_RSP && it->value == -ALIGNMENT && frame->cfa_kind == CFA_AT;

	if (is_sp && habits.is_aligned && frame->has_sp &&
	    (frame->cfa - frame->sp) % ALIGNMENT == 0)
		return;
	if (is_sp && !frame->is_fp_saved &&
	    (frame->ra_register != REGISTER_NONE ||
	     (habits.is_adapter && frame->ra_copy != REGISTER_NONE)))
		align_sp(frame);
	else
		step_set(frame, it->to);
}

void frame_step(struct frame_state *frame, const struct instruction *it, struct frame_habits habits)
{
	bool was_pushed = frame->was_fp_pushed;

	frame->was_fp_pushed = false;
	switch (it->kind) {
	case INSTRUCTION_PUSH:
		step_push(frame, it->from);
		break;
	case INSTRUCTION_POP:
		step_pop(frame, it->to);
		break;
	case INSTRUCTION_MOVE:
		step_move(frame, it, was_pushed);
		break;
	case INSTRUCTION_LOAD:
		step_load(frame, it);
		break;
	case INSTRUCTION_STORE:
		step_store(frame, it);
		break;
	case INSTRUCTION_ADD:
		if (it->to != REGISTER_RSP)
			forget_register(frame, it->to);
		else
			move_sp(frame, it->value);
		break;
	case INSTRUCTION_ALIGN:
		step_align(frame, it, habits);
		break;
	case INSTRUCTION_ADDRESS:
	case INSTRUCTION_SET:
		step_set(frame, it->to);
		break;
	case INSTRUCTION_LEAVE:
		step_leave(frame);
		break;
	case INSTRUCTION_CALL: /* of the next instruction: a way to learn where it is */
		if (it->target == it->size)
			step_push(frame, REGISTER_NONE);
		frame->ra_copy = REGISTER_NONE;
		break;
	default:
		break;
	}
}

static bool set_cfa(const struct frame_state *frame, struct unwind_special *rule)
{
	if (frame->cfa_kind == CFA_LOST)
		return false;
	if (frame->cfa_kind == CFA_REGISTER) {
		rule->base = (__u8)(UNWIND_BASE_REGISTER + dwarf_number((unsigned)frame->cfa));
		return true;
	}
	if (frame->cfa_kind == CFA_SENDER) {
		rule->base = UNWIND_BASE_FP;
		rule->is_dereferenced = 1;
		rule->offset = -WORD;
		return frame->has_fp;
	}
	/* Pushes in a loop count once: a frame pointer is more reliable. */
	rule->base = frame->has_fp ? UNWIND_BASE_FP : UNWIND_BASE_SP;
	rule->offset = frame->cfa - (frame->has_fp ? frame->fp : frame->sp);
	return frame->has_sp || frame->has_fp;
}

static bool set_saved(const struct frame_state *frame, int32_t offset, __u8 *ret_saved,
		      __s32 *ret_offset)
{
	if (frame->cfa_kind == CFA_AT) {
		*ret_saved = UNWIND_SAVED_AT_CFA;
		*ret_offset = offset - frame->cfa;
	} else if (frame->has_fp) {
		*ret_saved = UNWIND_SAVED_AT_BASE;
		*ret_offset = offset - frame->fp;
	} else {
		*ret_saved = UNWIND_SAVED_AT_SP;
		*ret_offset = offset - frame->sp;
	}
	return frame->cfa_kind == CFA_AT || frame->has_fp || frame->has_sp;
}

bool frame_rule(const struct frame_state *frame, struct unwind_special *ret)
{
	*ret = (struct unwind_special){ 0 };
	if (!set_cfa(frame, ret))
		return false;
	if (frame->is_fp_saved &&
	    !set_saved(frame, frame->saved_fp, &ret->fp_saved, &ret->fp_offset))
		return false;
	if (frame->ra_register == REGISTER_NONE)
		return set_saved(frame, frame->ra, &ret->ra_saved, &ret->ra_offset);
	ret->ra_saved = UNWIND_SAVED_IN;
	ret->ra_offset = (__s32)dwarf_number(frame->ra_register);
	return true;
}

bool frame_agrees(const struct frame_state *a, const struct frame_state *b)
{
	struct unwind_special of_a, of_b;
	bool has_rule = frame_rule(a, &of_a);

	return has_rule == frame_rule(b, &of_b) &&
	       (!has_rule || !memcmp(&of_a, &of_b, sizeof(of_a)));
}

struct frame_state frame_common(const struct frame_state *a, const struct frame_state *b)
{
	struct frame_state both = *a;

	if (a->ra_copy != b->ra_copy)
		both.ra_copy = REGISTER_NONE;
	if (a->sender_register != b->sender_register)
		both.sender_register = REGISTER_NONE;
	/* With a frame pointer the rule does not need rsp. */
	if (a->has_fp && (!a->has_sp || !b->has_sp || a->sp - a->fp != b->sp - b->fp))
		both.has_sp = false;
	return both;
}

bool frame_equals(const struct frame_state *a, const struct frame_state *b)
{
	return a->cfa_kind == b->cfa_kind && a->has_sp == b->has_sp && a->has_fp == b->has_fp &&
	       a->sp == b->sp && a->fp == b->fp && a->cfa == b->cfa && a->ra == b->ra &&
	       a->ra_register == b->ra_register && a->is_fp_saved == b->is_fp_saved &&
	       a->saved_fp == b->saved_fp && a->ra_copy == b->ra_copy &&
	       a->sender_register == b->sender_register;
}

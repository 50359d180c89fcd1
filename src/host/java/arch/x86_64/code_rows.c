/*
 * Follows the instructions of a piece of code in their order.  A forward jump passes its frame to
 * its target; after an instruction without continuation, that frame, or the usual one of such code,
 * is the next one's.  Where two flows meet with different frames there is no rule.
 */
#include "host/java/code_rows.h"

#include "host/core/cleanup.h"
#include "host/java/arch/x86_64/frame_state.h"
#include "host/unwind/arch/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD           8
#define STATES_MAX     250u /* different ones that wait for their place */
#define START          255u /* stands for the state at the begin of a function */
#define FRAME_SIZE_MAX (1u << 20)

struct scan {
	const struct code *code;
	struct frame_habits habits;
	struct rows *rows;
	uint32_t pc;
	struct frame_state frame;
	struct frame_state usual; /* after code that leaves the piece */
	bool keeps_frame;         /* behind a jump inside of it */
	bool is_over;             /* the next instruction is not reached from this one */
	size_t jumped_at;         /* where the code behind the first jump begins; 0: none yet */
	bool is_blind;            /* the return address is not laid down yet */
	unsigned char *waiting;   /* for each byte: the state of a jump there; 0: none */
	struct frame_state states[STATES_MAX];
	unsigned state_count;
};

static int add_row(struct scan *scan, size_t at, const struct frame_state *frame)
{
	uint32_t pc = scan->pc + (uint32_t)at;
	struct unwind_special rule;

	return scan->is_blind || !frame_rule(frame, &rule)
		       ? rows_add_kind(scan->rows, pc, UNWIND_BAD)
		       : rows_add_exact(scan->rows, pc, &rule);
}

/* By the number that stands for it; 0: there are too many. */
static unsigned number_of(struct scan *scan, const struct frame_state *frame)
{
	for (unsigned i = scan->state_count; i-- > 0;)
		if (frame_equals(&scan->states[i], frame))
			return i + 1;
	if (scan->state_count == STATES_MAX)
		return 0;
	scan->states[scan->state_count++] = *frame;
	return scan->state_count;
}

static struct frame_state code_rows_meet(const struct frame_state *a, const struct frame_state *b)
{
	return frame_agrees(a, b) ? frame_common(a, b) : frame_lost();
}

static void pass_to_target(struct scan *scan, size_t at, const struct instruction *it)
{
	int64_t target = it->target == TARGET_UNKNOWN ? -1 : (int64_t)at + it->target;
	struct frame_state frame = scan->frame;
	unsigned known;

	if (target <= (int64_t)at || target >= (int64_t)scan->code->size)
		return;
	known = scan->waiting[target];
	if (known == START)
		return;
	if (known)
		frame = code_rows_meet(&scan->states[known - 1], &frame);
	scan->waiting[target] = (unsigned char)number_of(scan, &frame);
}

/* The state at a jump and the state that falls through must agree, unless one is unknown.  In a
 * method they always agree: otherwise the bytes above are data, addresses patched at class
 * loading. */
static void code_rows_arrive(struct scan *scan, size_t at)
{
	unsigned known = scan->waiting[at];

	if (!known)
		return;
	if (known == START)
		scan->frame = frame_at_entry();
	else if (scan->is_over || scan->frame.cfa_kind == CFA_LOST ||
		 (scan->code->kind == CODE_METHOD &&
		  !frame_agrees(&scan->frame, &scan->states[known - 1])))
		scan->frame = scan->states[known - 1];
	else
		scan->frame = code_rows_meet(&scan->frame, &scan->states[known - 1]);
}

static bool jumps_inside(const struct scan *scan, size_t at, const struct instruction *it)
{
	return it->target != TARGET_UNKNOWN && (int64_t)at + it->target >= 0 &&
	       (int64_t)at + it->target < (int64_t)scan->code->size;
}

static void apply_instruction(struct scan *scan, size_t at, const struct instruction *it)
{
	bool is_jump = it->kind == INSTRUCTION_JUMP;

	scan->is_over = is_jump || it->kind == INSTRUCTION_RETURN || it->kind == INSTRUCTION_TRAP;
	if (is_jump && !scan->jumped_at)
		scan->jumped_at = at + it->size;
	if (is_jump || it->kind == INSTRUCTION_BRANCH)
		pass_to_target(scan, at, it);
	if (it->kind == INSTRUCTION_STORE && it->to == REGISTER_RBP && it->value == WORD)
		scan->is_blind = false;
	frame_step(&scan->frame, it, scan->habits);
	if (scan->is_over && !(is_jump && scan->keeps_frame && jumps_inside(scan, at, it)))
		scan->frame = scan->usual;
}

/* The distance to the next instruction; data may resemble one that reaches into the code behind
 * it. */
static size_t next_of(const struct scan *scan, size_t at, size_t size)
{
	for (size_t i = 1; i < size; i++)
		if (scan->waiting[at + i])
			return i;
	return size;
}

static bool may_have_data(const struct scan *scan)
{
	return scan->code->kind == CODE_STUBS || scan->code->kind == CODE_METHOD;
}

/* An invalid instruction ends the piece, or is skipped where data is possible. */
static size_t step_over(struct scan *scan, size_t at)
{
	struct instruction it;

	if (!instruction_read(&it, scan->code->bytes + at, scan->code->size - at)) {
		apply_instruction(scan, at, &it);
		return may_have_data(scan) ? next_of(scan, at, it.size) : it.size;
	}
	scan->frame = scan->usual;
	return may_have_data(scan);
}

/* From `at` up to `end`; *ret: how far it got. */
static int scan_part(struct scan *scan, size_t at, size_t end, size_t *ret)
{
	size_t size = 1;
	int r = 0;

	while (!r && size && at < end) {
		code_rows_arrive(scan, at);
		r = add_row(scan, at, &scan->frame);
		size = step_over(scan, at);
		at += size;
	}
	*ret = at;
	return r;
}

static int scan_rest(struct scan *scan, size_t at)
{
	const struct frame_state lost = frame_lost();
	size_t end;
	int r = scan_part(scan, at, scan->code->size, &end);

	if (!r && end < scan->code->size)
		r = add_row(scan, end, &lost);
	return r;
}

static bool has_size(const struct frame_state *frame, uint32_t size)
{
	return frame->cfa_kind == CFA_AT && frame->has_sp && frame->is_fp_saved &&
	       frame->cfa - frame->sp == (int32_t)size;
}

/* The prologue must make the frame in the method's description, or no rule is used.  A method that
 * may not be entered any more begins with a jump: half an instruction may follow it. */
static int scan_method(struct scan *scan)
{
	const struct code *code = scan->code;
	const struct frame_state lost = frame_lost();
	size_t end;
	int r;

	if (code->frame_complete > code->size || code->frame_size < 2 * WORD ||
	    code->frame_size > FRAME_SIZE_MAX)
		return add_row(scan, 0, &lost);
	r = scan_part(scan, 0, code->frame_complete, &end);
	if (!r && (end != code->frame_complete || !has_size(&scan->frame, code->frame_size))) {
		r = add_row(scan, scan->jumped_at, &lost);
		if (r || !scan->jumped_at)
			return r;
		scan->frame = frame_of_size(code->frame_size);
	}
	scan->usual = scan->frame;
	scan->keeps_frame = scan->is_over = false;
	return r ? r : scan_rest(scan, code->frame_complete);
}

/* Those reached by a poll reserve room for the return address first, and fill it in later. */
static void begin_safepoint(struct scan *scan)
{
	struct instruction it;

	if (instruction_read(&it, scan->code->bytes, scan->code->size) ||
	    (it.kind == INSTRUCTION_PUSH && it.from == REGISTER_RBP))
		return;
	scan->frame.sp = 0;
	scan->is_blind = true;
}

/* HotSpot begins most of them with push rbp; mov rbp,rsp. */
static void mark_starts(struct scan *scan)
{
	static const unsigned char prologues[2][4] = { { 0x55, 0x48, 0x8b, 0xec },
						       { 0x55, 0x48, 0x89, 0xe5 } };
	const struct code *code = scan->code;

	for (size_t i = 0; i < code->start_count; i++)
		if (code->starts[i] < code->size)
			scan->waiting[code->starts[i]] = START;
	for (size_t i = 0; i + sizeof(prologues[0]) <= code->size; i++)
		if (!memcmp(code->bytes + i, prologues[0], sizeof(prologues[0])) ||
		    !memcmp(code->bytes + i, prologues[1], sizeof(prologues[1])))
			scan->waiting[i] = START;
}

static int scan_code(struct scan *scan)
{
	const struct frame_state lost = frame_lost();

	scan->frame = scan->usual = frame_at_entry();
	scan->keeps_frame = true;
	scan->habits.is_adapter = scan->code->kind == CODE_ADAPTER;
	/* Frames of compiled methods are. */
	scan->habits.is_aligned =
		scan->code->kind == CODE_EXCEPTION || scan->code->kind == CODE_HANDLER;
	switch (scan->code->kind) {
	case CODE_METHOD:
		return scan_method(scan);
	case CODE_STUBS:
		mark_starts(scan);
		scan->frame = scan->usual = lost;
		break;
	case CODE_FRAMELESS:
		return add_row(scan, 0, &scan->frame);
	case CODE_SAFEPOINT:
		begin_safepoint(scan);
		scan->usual = lost;
		break;
	case CODE_EXCEPTION:
		scan->frame = frame_at_exception();
		scan->usual = lost;
		break;
	case CODE_FORWARDED:
		scan->frame = frame_at_fp();
		scan->usual = lost;
		break;
	case CODE_HANDLER:
		scan->usual = lost;
		scan->keeps_frame = false;
		break;
	case CODE_ENTRY:
		scan->frame = frame_at_interpreted_entry();
		scan->usual = frame_interpreted();
		scan->keeps_frame = false;
		break;
	case CODE_INTERPRETER:
		scan->frame = scan->usual = frame_interpreted();
		scan->keeps_frame = false;
		break;
	case CODE_UNKNOWN:
		return add_row(scan, 0, &lost);
	default:
		break;
	}
	return scan_rest(scan, 0);
}

int java_add_rows_x86_64(struct rows *rows, uint32_t pc, const struct code *code)
{
	CLEANUP(free) struct scan *scan = calloc(1, sizeof(*scan));
	CLEANUP(free) unsigned char *waiting = calloc(1, code->size + 1);

	if (!scan || !waiting)
		return -ENOMEM;
	scan->code = code;
	scan->rows = rows;
	rows->machine = unwind_machine_of(EM_X86_64);
	scan->pc = pc;
	scan->waiting = waiting;
	return scan_code(scan);
}

/*
 * Walks up a stack.  Stack memory is foreign: every address goes through the reader, and the stack
 * pointer must move up, so each walk ends.
 */
#include "host/unwind/walk.h"

#include "host/process/memory.h"
#include "host/unwind/walk_private.h"
#include "shared/arch/elf.h"
#include "shared/arch/signal_frame.h"
#include "shared/unwind/goroutine.h"
#include "shared/unwind/unframed.h"

#define PAGE_BYTES 4096u
#define FRAME_MAX  ((uint64_t)1 << 20) /* the limit of a frame for the frame-pointer rule */

union code_ahead {
	unsigned char bytes[UNFRAMED_BYTES];
	uint32_t words[UNFRAMED_WORDS];
};

/* The readable code at the thread's pc, within its page; the rest is 0. */
static void read_code_ahead(const struct walk *walk, union code_ahead *ret)
{
	size_t in_page = PAGE_BYTES - walk->at.pc % PAGE_BYTES;

	*ret = (union code_ahead){ 0 };
	memory_copy_from(walk->space->pid, walk->at.pc, ret, MIN(sizeof(*ret), in_page));
}

/* True when the function's frame is not made yet, or is removed already. */
static bool find_unframed(struct walk *walk, struct unframed *ret)
{
	union code_ahead code;
	uint64_t fp;

	if (!walk->is_exact || walk_is_lr_lost(walk))
		return false;
	read_code_ahead(walk, &code);
	*ret = ARCH_RETURN_ON_STACK ? unframed_x86_64(code.bytes) : unframed_aarch64(code.words);
	return ret->kind == UNFRAMED_BARE ||
	       (ret->kind == UNFRAMED_PUSHED &&
		walk_read_word(walk, walk->at.sp + (uint64_t)ret->distance, &fp) &&
		(ARCH_RETURN_ON_STACK || fp == walk->at.fp));
}

static int step_unframed(struct walk *walk, const struct unframed *unframed)
{
	uint64_t at = walk->at.sp + (uint64_t)unframed->distance, ra = walk->at.lr,
		 fp = walk->at.fp;
	bool is_pushed = unframed->kind == UNFRAMED_PUSHED;

	if ((is_pushed &&
	     (!walk_read_word(walk, at, &fp) || !walk_read_word(walk, at + WORD, &ra))) ||
	    (!is_pushed && ARCH_RETURN_ON_STACK && !walk_read_word(walk, at, &ra)))
		return STACK_UNREADABLE;
	if (is_pushed)
		at += 2 * WORD;
	else if (ARCH_RETURN_ON_STACK)
		at += WORD;
	return walk_step_to(walk, at, ra, fp, /* may_stay */ !ARCH_RETURN_ON_STACK);
}

/* A step without a rule: where calls do not push, the caller's frame may continue above. */
static int end_guided(struct walk *walk, int r)
{
	walk->was_guided = true;
	walk->at.is_sp_lost = !ARCH_RETURN_ON_STACK;
	return r == STACK_NO_MAP ? STACK_NO_TABLE : r;
}

/* Code without rules: it may keep frame pointers, as most JIT code does.  A chain that ends in 0,
 * or reaches a function of a file with 0, is not complete: that 0 may be a register that the code
 * uses otherwise.  Where calls do not push, the frame may continue above the two words that fp
 * points to. */
static int step_frame_pointer(struct walk *walk)
{
	uint64_t fp = walk->at.fp, ra, next;
	bool is_in_file = walk->range && module_is_file(walk->range->module);
	struct unframed unframed;

	if (walk->at.is_fp_unknown)
		return walk_lacks_fp(walk);
	if (find_unframed(walk, &unframed))
		return end_guided(walk, step_unframed(walk, &unframed));
	if (!fp && !walk->is_exact && (walk->was_guided || is_in_file))
		return walk_end_in_zero(walk);
	if (fp < walk->at.sp || fp - walk->at.sp > FRAME_MAX || fp % WORD)
		return STACK_NO_TABLE;
	if (!walk_read_word(walk, fp, &next) || !walk_read_word(walk, fp + WORD, &ra))
		return STACK_UNREADABLE;
	return end_guided(walk, walk_step_to(walk, fp + 2 * WORD, ra, next, /* may_stay */ false));
}

/* The rule for a frame whose sp is not known; false: there is none. */
static bool find_rule_without_sp(const struct unwind_row *row, struct unwind_row *ret)
{
	unsigned kind = row->kind & UNWIND_KIND_MASK;

	*ret = *row;
	if (kind == UNWIND_SP && row->kind & UNWIND_FP_HELD) {
		ret->kind = UNWIND_FP;
		ret->cfa = (__u16)-row->fp;
		return true;
	}
	return kind != UNWIND_SP && kind != UNWIND_SPECIAL && kind != UNWIND_SIGNAL &&
	       kind != UNWIND_GO_CGO && kind != UNWIND_GO_PUSHED && kind != UNWIND_CONTEXT;
}

static int step_by(struct walk *walk, const struct unwind_table *table,
		   const struct unwind_row *row)
{
	const struct walk_registers *at = &walk->at;
	struct unwind_row other;

	if (at->is_sp_lost) {
		if (!find_rule_without_sp(row, &other))
			return STACK_NO_RULE;
		row = &other;
	}
	switch (row->kind & UNWIND_KIND_MASK) {
	case UNWIND_SP:
		return walk_step_row(walk, row, at->sp + row->cfa * (uint64_t)WORD);
	case UNWIND_FP:
		if (at->is_fp_unknown)
			return walk_lacks_fp(walk);
		return walk_step_row(walk, row, at->fp + row->cfa * (uint64_t)WORD);
	case UNWIND_PLT:
		return walk_step_row(walk, row,
				     at->sp + WORD + ((at->pc & 15) >= row->cfa ? WORD : 0));
	case UNWIND_SIGNAL:
		return walk_step_signal(walk);
	case UNWIND_END:
		return STACK_COMPLETE;
	case UNWIND_SPECIAL:
		return walk_step_special(walk, &table->specials[row->cfa]);
	case UNWIND_NEWER:
		return STACK_NO_TABLE;
	case UNWIND_GO_GOBUF:
		return walk_step_gobuf(walk, row);
	case UNWIND_GO_CGO:
		return walk_step_cgo(walk, row);
	case UNWIND_GO_CALLED_BACK:
		return walk_step_called_back(walk, row);
	case UNWIND_GO_PUSHED:
		return walk_step_pushed(walk, row);
	case UNWIND_GO_FP:
		return walk_step_other_fp(walk, row);
	case UNWIND_LUAJIT:
		return walk_step_luajit(walk, row);
	case UNWIND_CONTEXT:
		return walk_step_context(walk, row);
	default:
		return row->cfa == UNWIND_BAD_JIT ? STACK_GENERATED : STACK_NO_RULE;
	}
}

/* The code at the return address; 0: unreadable.  Some C libraries have no rules for the code that
 * signal handlers and threads return to. */
static uint64_t read_code(const struct walk *walk)
{
	uint64_t code = 0;

	if (walk->is_exact || !module_is_file(walk->range->module) ||
	    memory_copy_from(walk->space->pid, walk->at.pc, &code, sizeof(code)) != sizeof(code))
		return 0;
	return code;
}

static int step_without_rule(struct walk *walk, __u64 *frame)
{
	uint64_t code = read_code(walk);

	if (code == THREAD_END)
		return STACK_COMPLETE;
	if (walk->at.is_sp_lost || code != SIGNAL_TRAMPOLINE)
		return step_frame_pointer(walk);
	*frame += 1;
	return walk_step_signal(walk);
}

/* At the function's end it jumps to the handler, which has no caller; before, ra may be of another
 * frame. */
static void frame_doubt(struct walk *walk, const struct unwind_row *row, bool was_exact,
			unsigned count)
{
	if (ARCH_RETURN_ON_STACK && was_exact && (row->kind & UNWIND_KIND_MASK) != UNWIND_FP) {
		walk->is_exact = true;
		walk->range = space_find(walk->space, walk->at.pc);
		return;
	}
	if (walk->doubted_ra || walk->is_guessed)
		return;
	walk->is_guessed = true; /* callers may be missing: fp may be the handler's */
	walk->doubted_ra = walk->at.pc;
	walk->doubted_sp = walk->at.sp;
	walk->doubted_fp = walk->at.fp;
	walk->doubted_count = count;
}

/* A word above with the doubted return address; 0: there is none. */
static uint64_t find_call(struct walk *walk)
{
	uint64_t word;

	for (uint64_t at = walk->doubted_sp; at - walk->doubted_sp < DOUBT_REACH; at += WORD) {
		if (!walk_read_word(walk, at, &word))
			return 0;
		if ((word & ARCH_ADDRESS_MASK) == walk->doubted_ra)
			return at;
	}
	return 0;
}

static bool resume_at(struct walk *walk, uint64_t sp)
{
	walk->is_guessed = true;
	walk->is_exact = walk->was_guided = false;
	walk->at.pc = walk->doubted_ra;
	walk->at.sp = sp;
	walk->at.is_sp_lost = false;
	walk->below = UINT64_MAX;
	walk->mask_below = 0;
	walk->at.fp = walk->doubted_fp;
	walk->range = space_find(walk->space, walk->at.pc - 1);
	return walk->range;
}

/* The call that returns there is above.  Of several the innermost is used: its callers are also
 * those of the others.  Where calls do not push, its frame ends somewhere behind that word: tries
 * all possible ends, one after the other. */
static bool find_doubted(struct walk *walk)
{
	uint64_t sp = walk->tried_sp;
	bool is_found;

	if (sp && sp - walk->doubted_sp < DOUBT_REACH) {
		walk->tried_sp += 2 * WORD;
		return resume_at(walk, walk->tried_sp);
	}
	sp = sp ? 0 : find_call(walk);
	if (sp && !ARCH_RETURN_ON_STACK) {
		walk->tried_sp = ALIGN_UP(sp + WORD, 2 * WORD);
		return resume_at(walk, walk->tried_sp);
	}
	is_found = sp && resume_at(walk, sp + WORD);
	walk->doubted_ra = 0;
	return is_found;
}

static int walk_step(struct walk *walk, __u64 *frame, unsigned count)
{
	uint64_t place = walk->is_exact ? walk->at.pc : walk->at.pc - 1, bias;
	const struct unwind_table *table;
	bool was_exact = walk->is_exact;
	const struct unwind_row *row;
	int r;

	if (!walk->range)
		return STACK_NO_MAP;
	table = space_table(walk->space, walk->range, place, &bias);
	row = table ? unwind_table_find(table, place - bias) : NULL;
	if (!row || row->kind == UNWIND_NONE)
		return step_without_rule(walk, frame);
	walk->was_guided = false;
	if (row->kind == UNWIND_SIGNAL && !was_exact)
		*frame += 1; /* not a call: looked up at the address itself */
	r = step_by(walk, table, row);
	if (r == GOES_ON && row->kind & UNWIND_THROWS)
		frame_doubt(walk, row, was_exact, count);
	return r;
}

struct walk_result stack_walk(const struct space *space, const struct walk_registers *registers,
			      const struct memory_reader *stack, __u64 *frames, unsigned capacity)
{
	return stack_walk_on(space, registers, /* is_exact */ true, stack, frames, 1, capacity);
}

struct walk_result stack_walk_on(const struct space *space, const struct walk_registers *registers,
				 bool is_exact, const struct memory_reader *stack, __u64 *frames,
				 unsigned count, unsigned capacity)
{
	struct walk walk = {
		.space = space,
		.stack = stack,
		.at = *registers,
		.is_exact = is_exact,
		.below = UINT64_MAX,
		.range = space_find(space, registers->pc - !is_exact),
		.go = registers->mask >> GO_REGISTER_G & 1 ? registers->all[GO_REGISTER_G] : 0,
	};
	struct walk_result result = { .end = STACK_CUT, .count = count - 1 };

	while (result.count < capacity) {
		int r;

		/* Callers are looked up at the byte before; one that a signal interrupted has no
		 * call there. */
		frames[result.count] = walk.at.pc + (walk.is_exact && result.count > 0);
		result.count++;
		r = walk_step(&walk, &frames[result.count - 1], result.count);
		if (r == GOES_ON)
			continue;
		result.end = (enum stack_end)r;
		if (r == STACK_COMPLETE || !walk.doubted_ra)
			break;
		result.count = walk.doubted_count;
		if (!find_doubted(&walk))
			break;
		result.end = STACK_CUT;
	}
	result.needs_fp = walk.needs_fp;
	result.is_guessed = walk.is_guessed;
	return result;
}

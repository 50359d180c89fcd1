/*
 * Walks up a stack.  Host only.  Stack memory is foreign: every address goes through the reader,
 * and the stack pointer must move up, so each walk ends.
 */
#include "host/unwind/walk.h"

#include "shared/arch/elf.h"
#include "shared/arch/signal_frame.h"

#define WORD        8
#define FRAME_MAX   ((uint64_t)1 << 20) /* the frame-pointer rule believes no larger frame */
#define SIGNALS_MAX 16                  /* frames of signals in one stack */

/* What a step says; not an end. */
#define GOES_ON STACK_ENDS

struct walk {
	const struct space *space;
	const struct memory_reader *stack;
	struct walk_registers at;
	const struct space_range *range; /* of at.pc; NULL: no code there */
	bool is_exact;                   /* at.pc is where it stands, not a return address */
	bool was_guided;                 /* the last step was by the frame-pointer rule */
	unsigned signals;
	bool needs_fp; /* it ended because the frame pointer is not known */
};

static bool read_word(struct walk *walk, uint64_t address, uint64_t *ret)
{
	return address % WORD == 0 && !walk->stack->read(walk->stack->context, address, ret, WORD);
}

/* The caller becomes the frame that stands. */
static int step_to(struct walk *walk, uint64_t cfa, uint64_t ra, uint64_t fp)
{
	if (cfa <= walk->at.sp && (ARCH_RETURN_ON_STACK || cfa < walk->at.sp || !walk->is_exact))
		return STACK_CIRCULAR;
	ra &= ARCH_ADDRESS_MASK;
	if (!ra) /* with no frame pointer either it is an end; else a stack that is being changed */
		return fp ? STACK_NO_MAP : STACK_COMPLETE;
	walk->at.pc = ra;
	walk->at.sp = cfa;
	walk->at.fp = fp;
	walk->at.mask = 0;
	walk->is_exact = false;
	walk->range = space_find(walk->space, ra - 1);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

static bool read_saved(struct walk *walk, unsigned saved, uint64_t cfa, int32_t offset,
		       uint64_t *value)
{
	if (saved == UNWIND_SAVED_NOT)
		return true;
	return read_word(walk,
			 (saved == UNWIND_SAVED_AT_CFA ? cfa : walk->at.fp) +
				 (uint64_t)(int64_t)offset,
			 value);
}

static int lacks_fp(struct walk *walk)
{
	walk->needs_fp = true;
	return STACK_NO_RULE;
}

static int step_special(struct walk *walk, const struct unwind_special *rule)
{
	uint64_t cfa, ra = walk->at.lr, fp = walk->at.fp;

	if (walk->at.is_fp_unknown &&
	    (rule->base == UNWIND_BASE_FP || rule->fp_saved == UNWIND_SAVED_AT_BASE))
		return lacks_fp(walk);
	if (rule->base == UNWIND_BASE_SP)
		cfa = walk->at.sp;
	else if (rule->base == UNWIND_BASE_FP)
		cfa = walk->at.fp;
	else if (walk->at.mask >> (rule->base - UNWIND_BASE_REGISTER) & 1)
		cfa = walk->at.all[rule->base - UNWIND_BASE_REGISTER];
	else
		return STACK_NO_RULE;
	cfa += (uint64_t)(int64_t)rule->offset;
	if (rule->is_dereferenced && !read_word(walk, cfa, &cfa))
		return STACK_UNREADABLE;
	cfa += (uint64_t)(int64_t)rule->addition;
	if (!read_saved(walk, rule->ra_saved, cfa, rule->ra_offset, &ra) ||
	    !read_saved(walk, rule->fp_saved, cfa, rule->fp_offset, &fp))
		return STACK_UNREADABLE;
	walk->at.is_fp_unknown &= !rule->fp_saved;
	return step_to(walk, cfa, ra, fp);
}

/* Where a row says that ra is, on machines whose calls do not push it. */
static bool read_ra(struct walk *walk, const struct unwind_row *row, uint64_t cfa, uint64_t *ret)
{
	if (ARCH_RETURN_ON_STACK)
		return read_word(walk, cfa - WORD, ret);
	if (row->kind & UNWIND_RA_IN_REGISTER) {
		*ret = walk->at.lr;
		return walk->is_exact; /* a caller's lr was overwritten by its call */
	}
	return read_word(
		walk, cfa + (uint64_t)(row->fp * WORD) + (row->kind & UNWIND_RA_ALONE ? 0 : WORD),
		ret);
}

static int step_row(struct walk *walk, const struct unwind_row *row, uint64_t cfa)
{
	uint64_t ra, fp = walk->at.fp;
	bool has_fp = row->fp != UNWIND_FP_SAME && !(row->kind & UNWIND_RA_ALONE);

	if (!read_ra(walk, row, cfa, &ra) ||
	    (has_fp && !read_word(walk, cfa + (uint64_t)(row->fp * WORD), &fp)))
		return STACK_UNREADABLE;
	walk->at.is_fp_unknown &= !has_fp;
	return step_to(walk, cfa, ra, fp);
}

static int step_signal(struct walk *walk)
{
	struct walk_registers *at = &walk->at;
	uint64_t sp = at->sp;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	at->mask = 0;
	at->is_fp_unknown = false;
	if (!read_word(walk, sp + SIGNAL_FRAME_PC, &at->pc) ||
	    !read_word(walk, sp + SIGNAL_FRAME_SP, &at->sp) ||
	    !read_word(walk, sp + SIGNAL_FRAME_FP, &at->fp))
		return STACK_UNREADABLE;
#ifdef SIGNAL_FRAME_LR
	if (!read_word(walk, sp + SIGNAL_FRAME_LR, &at->lr))
		return STACK_UNREADABLE;
#endif
	walk->is_exact = true;
	walk->range = space_find(walk->space, at->pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

/* Code without rules: it may keep frame pointers, as most JIT code does.  A chain that ends in 0,
 * or reaches the outermost function of a file with 0, has ended by the ABI's convention. */
static int step_frame_pointer(struct walk *walk)
{
	uint64_t fp = walk->at.fp, ra, next;
	bool is_in_file = walk->range && walk->range->module->kind == MODULE_FILE;
	int r;

	if (walk->at.is_fp_unknown)
		return lacks_fp(walk);
	if (!fp && !walk->is_exact && (walk->was_guided || is_in_file))
		return STACK_COMPLETE;
	if (fp < walk->at.sp || fp - walk->at.sp > FRAME_MAX || fp % WORD)
		return STACK_NO_TABLE;
	if (!read_word(walk, fp, &next) || !read_word(walk, fp + WORD, &ra))
		return STACK_UNREADABLE;
	r = step_to(walk, fp + 2 * WORD, ra, next);
	walk->was_guided = true;
	return r == STACK_NO_MAP ? STACK_NO_TABLE : r;
}

static int step_by(struct walk *walk, const struct unwind_table *table,
		   const struct unwind_row *row)
{
	const struct walk_registers *at = &walk->at;

	switch (row->kind & UNWIND_KIND_MASK) {
	case UNWIND_SP:
		return step_row(walk, row, at->sp + row->cfa * (uint64_t)WORD);
	case UNWIND_FP:
		if (at->is_fp_unknown)
			return lacks_fp(walk);
		return step_row(walk, row, at->fp + row->cfa * (uint64_t)WORD);
	case UNWIND_PLT:
		return step_row(walk, row, at->sp + WORD + ((at->pc & 15) >= row->cfa ? WORD : 0));
	case UNWIND_SIGNAL:
		return step_signal(walk);
	case UNWIND_END:
		return STACK_COMPLETE;
	case UNWIND_SPECIAL:
		return step_special(walk, &table->specials[row->cfa]);
	default:
		return STACK_NO_RULE;
	}
}

static int step(struct walk *walk)
{
	const struct unwind_table *table = walk->range ? walk->range->module->table : NULL;
	uint64_t place = walk->is_exact ? walk->at.pc : walk->at.pc - 1;
	const struct unwind_row *row;

	if (!walk->range)
		return STACK_NO_MAP;
	row = table ? unwind_table_find(table, place - walk->range->bias) : NULL;
	if (!row || row->kind == UNWIND_NONE)
		return step_frame_pointer(walk);
	walk->was_guided = false;
	return step_by(walk, table, row);
}

struct walk_result stack_walk(const struct space *space, const struct walk_registers *registers,
			      const struct memory_reader *stack, __u64 *frames, unsigned capacity)
{
	struct walk walk = {
		.space = space,
		.stack = stack,
		.at = *registers,
		.is_exact = true,
		.range = space_find(space, registers->pc),
	};
	struct walk_result result = { .end = STACK_CUT };

	while (result.count < capacity) {
		int r;

		/* Callers are looked up at the byte before; one that a signal interrupted has no
		 * call there. */
		frames[result.count] = walk.at.pc + (walk.is_exact && result.count > 0);
		result.count++;
		r = step(&walk);
		if (r != GOES_ON) {
			result.end = (enum stack_end)r;
			break;
		}
	}
	result.needs_fp = walk.needs_fp;
	return result;
}

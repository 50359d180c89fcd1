/*
 * Steps of a walk by rules of unwind tables, and by the kernel's signal frames.
 */
#include "host/unwind/walk_private.h"
#include "shared/arch/elf.h"
#include "shared/arch/signal_frame.h"

int walk_end_in_zero(const struct walk *walk)
{
	return walk->range && module_is_file(walk->range->module) ? STACK_ZERO : STACK_GENERATED;
}

bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *ret)
{
	return address % WORD == 0 && !walk->stack->read(walk->stack->context, address, ret, WORD);
}

int walk_step_to(struct walk *walk, uint64_t cfa, uint64_t ra, uint64_t fp, bool may_stay)
{
	if (cfa < walk->at.sp || (cfa == walk->at.sp && !may_stay))
		return STACK_CIRCULAR;
	ra &= ARCH_ADDRESS_MASK;
	if (!ra && cfa == walk->space->start_stack)
		return STACK_COMPLETE;
	if (!ra) /* with a frame pointer the stack is being changed */
		return fp ? STACK_NO_MAP : walk_end_in_zero(walk);
	walk->at.pc = ra;
	walk->below = walk->at.sp;
	walk->at.sp = cfa;
	walk->at.is_sp_lost = false;
	walk->at.fp = fp;
	walk->mask_below = walk->at.mask;
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
	if (saved == UNWIND_SAVED_AT_SP)
		cfa = walk->at.sp;
	else if (saved == UNWIND_SAVED_AT_BASE)
		cfa = walk->at.fp;
	return walk_read_word(walk, cfa + (uint64_t)(int64_t)offset, value);
}

/* -1: no rule, or its register is not known; else whether it could be read. */
static int read_special_ra(struct walk *walk, const struct unwind_special *rule, uint64_t cfa,
			   uint64_t *ra)
{
	uint64_t known = walk->at.mask | (unwind_keeps_ra(rule) ? walk->mask_below : 0);

	if (rule->ra_saved == UNWIND_SAVED_BEHIND)
		return walk->at.mask >> rule->ra_register & 1
			       ? walk_read_word(walk,
						walk->at.all[rule->ra_register] +
							(uint64_t)(int64_t)rule->ra_offset,
						ra)
			       : -1;
	if (rule->ra_saved != UNWIND_SAVED_IN)
		return read_saved(walk, rule->ra_saved, cfa, rule->ra_offset, ra);
	*ra = walk->at.all[rule->ra_offset];
	return known >> rule->ra_offset & 1 ? 1 : -1;
}

bool walk_is_lr_lost(const struct walk *walk)
{
	return !walk->is_exact || walk->at.is_lr_unknown;
}

int walk_lacks_fp(struct walk *walk)
{
	walk->needs_fp = true;
	return STACK_NO_RULE;
}

/* Whether a call can return there: at a function's beginning there is none before. */
static bool is_behind_call(const struct walk *walk, uint64_t ra)
{
	const struct space_range *range = space_find(walk->space, ra - 1);
	const struct unwind_table *table = range ? range->module->table : NULL;
	const struct unwind_row *row =
		table ? unwind_table_find(table, ra - 1 - range->bias) : NULL;

	return row && row->kind != UNWIND_NONE &&
	       !((row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->cfa <= 1);
}

/* Assembly that keeps its caller's stack pointer just below its own, where copies of a stack do not
 * reach, has saved it in its frame, too: the first word that points to a return address. */
static bool find_kept_sp(struct walk *walk, uint64_t *ret)
{
	uint64_t sp = walk->at.sp, word, ra;

	for (uint64_t at = sp; at - sp < DOUBT_REACH && walk_read_word(walk, at, &word);
	     at += WORD) {
		if (word <= at || word - at >= DOUBT_REACH || !walk_read_word(walk, word, &ra) ||
		    !is_behind_call(walk, ra))
			continue;
		walk->is_guessed = true;
		*ret = word;
		return true;
	}
	return false;
}

static bool read_kept_cfa(struct walk *walk, const struct unwind_special *rule, uint64_t *cfa)
{
	bool is_below = rule->base == UNWIND_BASE_SP && rule->offset < 0 && rule->addition == WORD;

	return walk_read_word(walk, *cfa, cfa) || (is_below && find_kept_sp(walk, cfa));
}

/* Go saves fp one word below the stack pointer, where copies of a stack do not reach: Go's own code
 * needs no fp. */
static bool read_fp(struct walk *walk, uint64_t address, uint64_t *ret)
{
	walk->at.is_fp_unknown = !walk_read_word(walk, address, ret);
	return !walk->at.is_fp_unknown || address < walk->at.sp;
}

int walk_step_special(struct walk *walk, const struct unwind_special *rule)
{
	uint64_t known = walk->at.mask | (rule->is_kept ? walk->mask_below : 0);
	uint64_t cfa, ra = walk->at.lr, fp = walk->at.fp;
	int r;

	if (walk->at.is_fp_unknown &&
	    (rule->base == UNWIND_BASE_FP || rule->fp_saved == UNWIND_SAVED_AT_BASE))
		return walk_lacks_fp(walk);
	if (rule->ra_saved == UNWIND_SAVED_NOT && walk_is_lr_lost(walk))
		return STACK_NO_RULE;
	if (rule->base == UNWIND_BASE_SP)
		cfa = walk->at.sp;
	else if (rule->base == UNWIND_BASE_FP)
		cfa = walk->at.fp;
	else if (known >> (rule->base - UNWIND_BASE_REGISTER) & 1)
		cfa = walk->at.all[rule->base - UNWIND_BASE_REGISTER];
	else
		return STACK_NO_RULE;
	cfa += (uint64_t)(int64_t)rule->offset;
	/* An address below sp where the callee saves something: not yet, or not any more. */
	if (rule->is_dereferenced && rule->offset < 0 && rule->base == UNWIND_BASE_SP &&
	    !walk->is_exact && cfa < walk->below)
		return STACK_NO_RULE;
	if (rule->is_dereferenced && !read_kept_cfa(walk, rule, &cfa))
		return STACK_UNREADABLE;
	cfa += (uint64_t)(int64_t)rule->addition;
	if (rule->is_floored)
		cfa = MAX(cfa, rule->fp_saved == UNWIND_SAVED_AT_BASE ? walk->at.fp + 2 * WORD
								      : walk->at.sp);
	r = read_special_ra(walk, rule, cfa, &ra);
	if (r <= 0)
		return r ? STACK_NO_RULE : STACK_UNREADABLE;
	if (rule->fp_saved == UNWIND_SAVED_AT_SP
		    ? !read_fp(walk, walk->at.sp + (uint64_t)(int64_t)rule->fp_offset, &fp)
		    : !read_saved(walk, rule->fp_saved, cfa, rule->fp_offset, &fp))
		return STACK_UNREADABLE;
	walk->at.is_fp_unknown &= !rule->fp_saved || rule->fp_saved == UNWIND_SAVED_AT_SP;
	r = walk_step_to(walk, cfa, ra, fp,
			 (walk->is_exact || unwind_keeps_ra(rule)) &&
				 (!ARCH_RETURN_ON_STACK || rule->ra_saved == UNWIND_SAVED_IN));
	walk->at.is_sp_lost = rule->is_low;
	return r;
}

/* Reads ra by the row, on machines whose calls do not push it. */
static bool read_ra(struct walk *walk, const struct unwind_row *row, uint64_t cfa, uint64_t *ret)
{
	if (ARCH_RETURN_ON_STACK)
		return walk_read_word(walk, cfa - WORD, ret);
	if (row->kind & UNWIND_RA_IN_REGISTER) {
		*ret = walk->at.lr;
		return walk->is_exact;
	}
	return walk_read_word(
		walk, cfa + (uint64_t)(row->fp * WORD) + (row->kind & UNWIND_RA_ALONE ? 0 : WORD),
		ret);
}

int walk_step_row(struct walk *walk, const struct unwind_row *row, uint64_t cfa)
{
	uint64_t ra, fp = walk->at.fp;
	bool has_fp = row->fp != UNWIND_FP_SAME && !(row->kind & UNWIND_RA_ALONE);

	if (row->kind & UNWIND_RA_IN_REGISTER && walk->at.is_lr_unknown)
		return STACK_NO_RULE;
	if (!read_ra(walk, row, cfa, &ra))
		return STACK_UNREADABLE;
	if (has_fp && !read_fp(walk, cfa + (uint64_t)(row->fp * WORD), &fp))
		return STACK_UNREADABLE;
	return walk_step_to(walk, cfa, ra, fp, walk->is_exact && !ARCH_RETURN_ON_STACK);
}

int walk_step_signal(struct walk *walk)
{
	struct walk_registers *at = &walk->at;
	uint64_t sp = at->sp;

	if (++walk->signals > SIGNALS_MAX)
		return STACK_CIRCULAR;
	at->mask = walk->mask_below = 0;
	at->is_fp_unknown = at->is_lr_unknown = false;
	if (!walk_read_word(walk, sp + SIGNAL_FRAME_PC, &at->pc) ||
	    !walk_read_word(walk, sp + SIGNAL_FRAME_GO, &walk->go) ||
	    !walk_read_word(walk, sp + SIGNAL_FRAME_SP, &at->sp) ||
	    !walk_read_word(walk, sp + SIGNAL_FRAME_FP, &at->fp))
		return STACK_UNREADABLE;
#ifdef SIGNAL_FRAME_LR
	if (!walk_read_word(walk, sp + SIGNAL_FRAME_LR, &at->lr))
		return STACK_UNREADABLE;
#endif
	walk->is_exact = true;
	walk->range = space_find(walk->space, at->pc);
	return walk->range ? GOES_ON : STACK_NO_MAP;
}

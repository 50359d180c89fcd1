/*
 * Undoes the effect of one instruction on a frame.
 */
#include "host/unwind/mend/frame_undo.h"

#include <errno.h>

#define WORD        8
#define FRAME_LIMIT (1 << 28) /* no frame is larger */

static int32_t cfa_at_begin(const struct unwind_machine *machine)
{
	return machine->is_ra_pushed ? WORD : 0;
}

struct frame_parts frame_parts_begin(const struct unwind_machine *machine)
{
	return (struct frame_parts){ .cfa = cfa_at_begin(machine),
				     .fp_saved = FRAME_NOT_SAVED,
				     .ra_saved = FRAME_NOT_SAVED };
}

bool frame_parts_equal(const struct frame_parts *a, const struct frame_parts *b)
{
	return a->is_by_fp == b->is_by_fp && a->cfa == b->cfa && a->fp_saved == b->fp_saved &&
	       a->ra_saved == b->ra_saved;
}

static bool is_saved_plainly(unsigned saved)
{
	return saved == UNWIND_SAVED_NOT || saved == UNWIND_SAVED_AT_CFA;
}

/* A frame that is too large for a row, or with fp and ra not adjacent. */
static bool parts_of_special(const struct unwind_machine *machine, const struct unwind_special *it,
			     struct frame_parts *ret)
{
	ret->is_by_fp = it->base == UNWIND_BASE_FP;
	ret->cfa = it->offset;
	if (it->fp_saved)
		ret->fp_saved = it->fp_offset;
	if (it->ra_saved && !machine->is_ra_pushed)
		ret->ra_saved = it->ra_offset;
	return it->base <= UNWIND_BASE_FP && !it->is_dereferenced && !it->addition &&
	       !it->is_floored && !it->is_kept && !it->is_low && it->offset < FRAME_LIMIT &&
	       it->offset > -FRAME_LIMIT && is_saved_plainly(it->fp_saved) &&
	       is_saved_plainly(it->ra_saved);
}

static void parts_of_short(const struct unwind_machine *machine, const struct unwind_row *row,
			   struct frame_parts *ret)
{
	bool has_slot = row->fp != UNWIND_FP_SAME;

	ret->is_by_fp = (row->kind & UNWIND_KIND_MASK) == UNWIND_FP;
	ret->cfa = row->cfa * WORD;
	if (row->kind & UNWIND_RA_ALONE)
		ret->ra_saved = row->fp * WORD;
	else if (has_slot)
		ret->fp_saved = row->fp * WORD;
	if (has_slot && !machine->is_ra_pushed &&
	    !(row->kind & (UNWIND_RA_ALONE | UNWIND_RA_IN_REGISTER)))
		ret->ra_saved = ret->fp_saved + WORD;
}

bool frame_parts_of_row(const struct rows *rows, const struct unwind_row *row,
			struct frame_parts *ret)
{
	unsigned kind = row->kind & UNWIND_KIND_MASK;

	*ret = frame_parts_begin(rows->machine);
	if (kind == UNWIND_SPECIAL)
		return parts_of_special(rows->machine, &rows->specials[row->cfa], ret);
	parts_of_short(rows->machine, row, ret);
	return kind == UNWIND_SP || kind == UNWIND_FP;
}

static struct rule rule_of_slot(int32_t saved)
{
	return saved == FRAME_NOT_SAVED ? (struct rule){ RULE_SAME }
					: (struct rule){ .kind = RULE_AT, .offset = saved };
}

struct rules frame_parts_rules(const struct unwind_machine *machine,
			       const struct frame_parts *parts)
{
	struct rules rules = {
		.cfa = { .kind = RULE_AT,
			 .base = parts->is_by_fp ? machine->fp : machine->sp,
			 .offset = parts->cfa },
		.fp = rule_of_slot(parts->fp_saved),
		.ra = rule_of_slot(machine->is_ra_pushed ? -WORD : parts->ra_saved),
	};

	return rules;
}

/* The slot's offset from the CFA; false: the CFA is not known by the slot's register. */
static bool slot_place(const struct frame_parts *parts, const struct step_slot *slot, int32_t *ret)
{
	*ret = slot->offset - parts->cfa;
	return slot->is_from_fp == parts->is_by_fp;
}

static bool is_late(const struct frame_parts *said, const struct step_slot *slot, int32_t saved)
{
	int32_t place;

	return slot->access == ACCESS_SAVE && slot_place(said, slot, &place) && place == saved;
}

bool frame_saves_late(const struct frame_step *step, const struct frame_parts *said)
{
	return !said->is_by_fp && !step->sp_change &&
	       (is_late(said, &step->fp, said->fp_saved) ||
		is_late(said, &step->ra, said->ra_saved));
}

/* `saved`: where the register's value is after the step; `is_frame`: it points to the frame
 * itself. */
static bool undo_slot(const struct frame_parts *parts, const struct step_slot *slot, bool is_frame,
		      int32_t *saved)
{
	int32_t place;
	bool is_known = slot_place(parts, slot, &place);

	if (slot->access == ACCESS_RESTORE && is_frame)
		return false;
	if (slot->access == ACCESS_RESTORE && *saved == FRAME_NOT_SAVED) {
		*saved = place;
		return is_known;
	}
	if (slot->access == ACCESS_SAVE && !is_frame && is_known && *saved == place)
		*saved = FRAME_NOT_SAVED;
	return true;
}

/* False: the frame is not known before the move. */
static bool undo_move(const struct frame_step *step, struct frame_parts *parts)
{
	if (step->move == MOVE_NONE || (step->move == MOVE_SP_FROM_FP && parts->is_by_fp))
		return true;
	/* sp = fp + value: before it, only fp leads to the frame.  fp = sp + value: before it, fp
	 * had the caller's value, where that is saved. */
	if (step->move == MOVE_SP_FROM_FP || parts->is_by_fp)
		parts->cfa += step->value;
	parts->is_by_fp = step->move == MOVE_SP_FROM_FP;
	return parts->fp_saved != FRAME_NOT_SAVED;
}

static bool keeps_needed(const struct frame_step *step, const struct frame_parts *parts)
{
	bool needs_fp = parts->is_by_fp || parts->fp_saved == FRAME_NOT_SAVED;

	return !(step->is_sp_lost && !parts->is_by_fp) && !(step->is_fp_lost && needs_fp) &&
	       !(step->is_ra_lost && parts->ra_saved == FRAME_NOT_SAVED);
}

int frame_undo(const struct unwind_machine *machine, const struct frame_step *step,
	       struct frame_parts *parts)
{
	if ((step->flow != STEP_ON && step->flow != STEP_BRANCH) ||
	    !(step->sp_change < FRAME_LIMIT && step->sp_change > -FRAME_LIMIT &&
	      step->value < FRAME_LIMIT && step->value > -FRAME_LIMIT) ||
	    !keeps_needed(step, parts))
		return -ENODATA;
	if (!parts->is_by_fp)
		parts->cfa += step->sp_change;
	if (!undo_slot(parts, &step->fp, parts->is_by_fp, &parts->fp_saved) ||
	    !undo_slot(parts, &step->ra, false, &parts->ra_saved) || !undo_move(step, parts))
		return -ENODATA;
	return (parts->cfa % WORD == 0 && parts->cfa < FRAME_LIMIT && parts->cfa > -FRAME_LIMIT &&
		(parts->is_by_fp || parts->cfa >= cfa_at_begin(machine)))
		       ? 0
		       : -EBADMSG;
}

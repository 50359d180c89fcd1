/*
 * Goes back from each return, and from each row, until rows and instructions agree.
 */
#include "host/unwind/mend/mend.h"

#include <errno.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/unwind/mend/frame_undo.h"

#define REMEMBERED 64u /* instructions: no prologue is longer */

struct seen_step {
	uint32_t at; /* from the code's begin */
	struct frame_step step;
};

/* Between `at` and `end` the rows are wrong. */
struct stretch {
	uint32_t at, end;
	bool has_fp; /* fp is the caller's again, and only that is wrong */
	struct frame_parts parts;
};

struct mending {
	struct rows *rows;
	const struct unwind_machine *machine;
	const struct object_part *code;
	uint32_t pc;
	struct unwind_row *old; /* the rows before the correction */
	size_t count;
	struct seen_step seen[REMEMBERED]; /* the latest, in a ring */
	uint32_t seen_count;               /* since the last one without continuation */
	bool is_at_exit;                   /* in an epilogue, not in a prologue */
	struct stretch *stretches;
	size_t stretch_count, stretch_room;
};

static void mending_done_at_scope_end(struct mending *self)
{
	free(self->old);
	free(self->stretches);
}

static bool is_at_begin(const struct rows *rows, const struct unwind_row *row)
{
	const struct frame_parts begin = frame_parts_begin(rows->machine);
	struct frame_parts parts;

	return frame_parts_of_row(rows, row, &parts) && frame_parts_equal(&parts, &begin);
}

/* Rows are not repeated: the function's first row may be the last one before it. */
static bool is_first_shared(const struct rows *rows, size_t first, uint32_t pc)
{
	return first && first < rows->count && rows->items[first].pc > pc;
}

/* A function that makes a frame, and has no row that removes it; or one with a frame that gcc has
 * aligned.  The few that continue in an exception's handler are skipped: their rows have a more
 * exact mark.  So is assembly that is entered with a frame (LuaJIT's). */
static bool needs_mending(const struct rows *rows, size_t first, uint32_t pc)
{
	bool has_frame = false, is_realigned = false, is_taken_down = false;

	for (size_t i = first; i < rows->count; i++) {
		const struct unwind_row *row = &rows->items[i];
		bool is_bare = is_at_begin(rows, row);
		struct frame_parts parts;

		if (row->kind & UNWIND_THROWS)
			return false;
		is_realigned |= rows_keep_fp_in_frame(rows, row);
		is_taken_down |= has_frame && is_bare;
		has_frame |= !is_bare && frame_parts_of_row(rows, row, &parts);
	}
	if (!has_frame || is_taken_down)
		return is_realigned;
	return is_at_begin(rows, &rows->items[first - is_first_shared(rows, first, pc)]);
}

/* The row in effect at an offset of the code. */
static size_t row_at(const struct mending *self, uint32_t at)
{
	size_t low = 0, high = self->count - 1;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if (self->old[middle].pc <= self->pc + at)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static bool parts_at(const struct mending *self, uint32_t at, struct frame_parts *ret)
{
	return frame_parts_of_row(self->rows, &self->old[row_at(self, at)], ret);
}

/* After an epilogue's load both the register and the slot have the value: a row may name either. */
static bool slot_serves(const struct mending *self, int32_t said, int32_t is)
{
	return said == is || (self->is_at_exit && is == FRAME_NOT_SAVED);
}

static bool row_serves(const struct mending *self, uint32_t at, const struct frame_parts *parts)
{
	struct frame_parts said;

	return parts_at(self, at, &said) && said.is_by_fp == parts->is_by_fp &&
	       said.cfa == parts->cfa && slot_serves(self, said.fp_saved, parts->fp_saved) &&
	       slot_serves(self, said.ra_saved, parts->ra_saved) &&
	       !(said.is_by_fp && said.fp_saved != parts->fp_saved);
}

static int stretch_add(struct mending *self, uint32_t at, uint32_t end,
		       const struct frame_parts *parts)
{
	if (make_room(&self->stretches, self->stretch_count, &self->stretch_room,
		      sizeof(*self->stretches)) < 0)
		return -ENOMEM;
	self->stretches[self->stretch_count++] =
		(struct stretch){ .at = at, .end = end, .has_fp = !parts };
	if (parts)
		self->stretches[self->stretch_count - 1].parts = *parts;
	return 0;
}

static const struct seen_step *seen_back(const struct mending *self, uint32_t count)
{
	return &self->seen[(self->seen_count - count) % REMEMBERED];
}

/* Whether rows and instructions agree before this one: the CFA by fp is as good as that by sp, when
 * fp is restored from where the row has it. */
static bool is_agreed(const struct mending *self, uint32_t at, const struct frame_parts *parts)
{
	struct frame_parts said;

	if (!parts_at(self, at, &said) || said.fp_saved != parts->fp_saved ||
	    said.ra_saved != parts->ra_saved)
		return false;
	return said.is_by_fp ? said.fp_saved != FRAME_NOT_SAVED
			     : !parts->is_by_fp && said.cfa == parts->cfa;
}

/* Goes back from where `parts` holds.  The result counts when *is_believed, which becomes true
 * where rows and instructions agree. */
static int mend_back(struct mending *self, struct frame_parts parts, bool *is_believed)
{
	size_t from = self->stretch_count;
	uint32_t floor = from ? self->stretches[from - 1].end : 0;
	int r = 0, undone;

	for (uint32_t back = 1; !r && back <= MIN(self->seen_count, REMEMBERED); back++) {
		const struct seen_step *it = seen_back(self, back);

		if (it->at < floor)
			break;
		undone = frame_undo(self->machine, &it->step, &parts);
		if (undone == -EBADMSG)
			*is_believed = false;
		if (undone < 0)
			break;
		if (is_agreed(self, it->at, &parts)) {
			*is_believed = true;
			break;
		}
		if (!row_serves(self, it->at, &parts))
			r = stretch_add(self, it->at, it->at + it->step.size, &parts);
	}
	if (!*is_believed)
		self->stretch_count = from;
	for (size_t low = from, high = self->stretch_count; low + 1 < high; low++) {
		struct stretch other = self->stretches[low];

		self->stretches[low] = self->stretches[--high];
		self->stretches[high] = other;
	}
	return r;
}

/* At a return, or a jump to another function: there the frame is gone. */
static int mend_exit(struct mending *self, uint32_t at, const struct frame_step *step)
{
	const struct frame_parts begin = frame_parts_begin(self->machine);
	bool is_believed = step->flow == STEP_RETURN;
	const struct unwind_row *row = &self->old[row_at(self, at)];
	int r;

	if (is_at_begin(self->rows, row))
		return 0;
	if (rows_keep_fp_in_frame(self->rows, row)) {
		/* gcc's rules for an aligned stack have the caller's fp where fp points to, even
		 * after `leave`. */
		for (uint32_t back = 1; back <= MIN(self->seen_count, REMEMBERED); back++) {
			const struct seen_step *it = seen_back(self, back);

			if (it->step.fp.access == ACCESS_RESTORE)
				return stretch_add(self, it->at + it->step.size, at + step->size,
						   /* parts */ NULL);
		}
		return 0;
	}
	self->is_at_exit = true;
	r = mend_back(self, begin, &is_believed);
	self->is_at_exit = false;
	return r || !is_believed ? r : stretch_add(self, at, at + step->size, &begin);
}

/* At a row that makes a frame: it may be late.  At the `step` of a register that a row already says
 * to be saved: clang's rules name saved registers after the prologue, and may delay them beyond
 * it. */
static int mend_late(struct mending *self, uint32_t at, const struct frame_step *step)
{
	struct frame_parts said;
	bool is_believed = false;

	return parts_at(self, at, &said) && (!step || frame_saves_late(step, &said))
		       ? mend_back(self, said, &is_believed)
		       : 0;
}

static bool leaves_function(const struct mending *self, uint32_t at, const struct frame_step *step)
{
	uint64_t target = (uint64_t)((int64_t)at + step->target);

	return step->flow == STEP_RETURN ||
	       (step->flow == STEP_JUMP &&
		(step->target == STEP_TARGET_UNKNOWN || target >= self->code->size));
}

static int read_function(struct mending *self)
{
	size_t row = 0;
	int r = 0;

	for (uint32_t at = 0; !r && at < self->code->size;) {
		struct frame_step step;

		if (self->machine->code->read_step(&step, self->code->bytes + at,
						   self->code->size - at) < 0)
			return 0;
		while (row + 1 < self->count && self->old[row + 1].pc < self->pc + at)
			row++;
		if (row + 1 < self->count && self->old[row + 1].pc == self->pc + at)
			r = mend_late(self, at, /* step */ NULL);
		if (!r && leaves_function(self, at, &step))
			r = mend_exit(self, at, &step);
		/* gcc before 11 says that a stack which it aligns has its frame already where fp is
		 * only about to point there: it is still the caller's. */
		if (!r && step.move == MOVE_FP_FROM_SP &&
		    rows_keep_fp_in_frame(self->rows, &self->old[row_at(self, at)]))
			r = stretch_add(self, at, at + step.size, /* parts */ NULL);
		if (step.flow == STEP_ON || step.flow == STEP_BRANCH)
			self->seen[self->seen_count++ % REMEMBERED] =
				(struct seen_step){ at, step };
		else
			self->seen_count = 0;
		if (!r)
			r = mend_late(self, at, &step);
		at += step.size;
	}
	return r;
}

static int add_row(struct mending *self, uint32_t pc, const struct unwind_row *row, bool has_fp)
{
	return has_fp && rows_keep_fp_in_frame(self->rows, row)
		       ? rows_add_with_fp(self->rows, pc, row)
		       : rows_add(self->rows, pc, *row);
}

/* Copies the old rows from one offset to another. */
static int add_old(struct mending *self, uint32_t from, uint32_t end, bool has_fp)
{
	size_t row = row_at(self, from);
	int r = 0;

	if (from >= end)
		return 0;
	r = add_row(self, self->pc + from, &self->old[row], has_fp);
	while (!r && ++row < self->count && self->old[row].pc < self->pc + end)
		r = add_row(self, self->old[row].pc, &self->old[row], has_fp);
	return r;
}

static int rows_rebuild(struct mending *self, size_t first)
{
	uint32_t at = 0;
	int r = 0;

	self->rows->count = first;
	for (size_t i = 0; !r && i < self->stretch_count; i++) {
		const struct stretch *it = &self->stretches[i];
		const struct rules rules = frame_parts_rules(self->machine, &it->parts);

		r = add_old(self, at, it->at, /* has_fp */ false);
		if (!r)
			r = it->has_fp ? add_old(self, it->at, it->end, /* has_fp */ true)
				       : rows_add_rules(self->rows, self->pc + it->at, &rules);
		at = it->end;
	}
	return r ? r : add_old(self, at, (uint32_t)self->code->size, /* has_fp */ false);
}

int epilogues_mend(struct rows *rows, size_t first, const struct object_part *code, uint32_t pc)
{
	CLEANUP(mending_done)
	struct mending self = { .rows = rows, .machine = rows->machine, .code = code, .pc = pc };
	bool is_shared = is_first_shared(rows, first, pc);
	int r;

	if (!needs_mending(rows, first, pc) || code->size > CODE_PIECE_MAX)
		return 0;
	r = rows_detach(rows, first - is_shared, &self.old, &self.count);
	if (r)
		return r;
	rows->count += self.count; /* they stay unless a stretch is wrong */
	if (is_shared)
		self.old[0].pc = pc;
	r = read_function(&self);
	return r || !self.stretch_count ? r : rows_rebuild(&self, first);
}

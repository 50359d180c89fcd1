/*
 * Finds where a function jumps away with a computed stack pointer, and its last calls before.
 */
#include "host/unwind/mend/mend.h"

#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"

/* The function that installs the registers, and a hook for debuggers after it. */
#define CALLS 2u

/* Offsets in the code. */
struct installing {
	uint32_t at, end;
};

static bool is_exit(const struct frame_step *step)
{
	return step->flow == STEP_RETURN ||
	       (step->flow == STEP_JUMP && step->target == STEP_TARGET_UNKNOWN);
}

static bool find_installing(const struct code_reader *reader, const struct object_part *code,
			    struct installing *ret)
{
	uint32_t calls[CALLS] = { 0 };
	bool is_computed = false;
	struct frame_step step;

	for (uint32_t at = 0; at < code->size; at += step.size) {
		if (reader->read_step(&step, code->bytes + at, code->size - at) < 0)
			return false;
		if (step.flow == STEP_CALL) {
			memmove(calls, calls + 1, sizeof(calls) - sizeof(calls[0]));
			calls[CALLS - 1] = at;
			is_computed = false;
		}
		is_computed |= step.is_sp_lost;
		if (is_exit(&step) && is_computed && calls[0]) {
			*ret = (struct installing){ calls[0], at + step.size };
			return true;
		}
	}
	return false;
}

static int add_piece(struct rows *rows, uint32_t pc, struct unwind_row row, bool is_installing)
{
	if (!is_installing)
		row.kind &= (uint8_t)~UNWIND_THROWS;
	return rows_add(rows, pc, row);
}

/* Splits an old row, up to the beginning of the next one, into up to three pieces. */
static int add_pieces(struct rows *rows, const struct unwind_row *row, uint32_t end,
		      struct installing installing)
{
	uint32_t at = MAX(row->pc, installing.at), behind = MAX(row->pc, installing.end);
	int r = 0;

	if (row->pc < installing.at)
		r = add_piece(rows, row->pc, *row, false);
	if (!r && at < MIN(end, installing.end))
		r = add_piece(rows, at, *row, true);
	return r || behind >= end ? r : add_piece(rows, behind, *row, false);
}

int throwers_narrow(struct rows *rows, size_t first, const struct object_part *code, uint32_t pc)
{
	CLEANUP(free) struct unwind_row *old = NULL;
	struct installing installing;
	bool has_mark = false;
	size_t count;
	int r;

	for (size_t i = first; i < rows->count; i++)
		has_mark |= rows->items[i].kind & UNWIND_THROWS;
	if (!has_mark || code->size > CODE_PIECE_MAX ||
	    !find_installing(rows->machine->code, code, &installing))
		return 0;
	r = rows_detach(rows, first, &old, &count);
	installing.at += pc;
	installing.end += pc;
	for (size_t i = 0; !r && i < count; i++)
		r = add_pieces(rows, &old[i],
			       i + 1 < count ? old[i + 1].pc : pc + (uint32_t)code->size,
			       installing);
	return r;
}

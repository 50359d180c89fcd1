/*
 * Marks rows of functions that keep x29.  gcc's rules count from sp although x29 points to the
 * frame's record, and code without rules leads to its caller by that pointer alone.  A function
 * counts as one that keeps x29 when nothing else in it writes there.
 */
#include "host/unwind/arch/aarch64/follow.h"

#include <string.h>

#define FP        29u
#define SLOT_SIZE 8

static bool is_of_record(const struct unwind_row *row)
{
	return (row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->fp < 0 &&
	       row->fp != UNWIND_FP_SAME &&
	       !(row->kind & (UNWIND_RA_IN_REGISTER | UNWIND_RA_ALONE));
}

/* x29 = sp + distance: is the caller's x29 saved there by the row? */
static bool points_to_record(const struct unwind_row *row, int32_t distance)
{
	return is_of_record(row) && (row->cfa + row->fp) * SLOT_SIZE == distance;
}

/* The row's `fp` with which x29 points to the record; 0: it does not, or not always. */
static int find_record(const struct object_part *code, uint32_t pc, const struct unwind_row *rows,
		       size_t count)
{
	size_t row = 0;
	int record = 0;

	for (uint64_t at = 0; code->size - at >= INSTRUCTION_BYTES; at += INSTRUCTION_BYTES) {
		int32_t distance;
		uint32_t word;

		memcpy(&word, code->bytes + at, sizeof(word));
		if (!((word & 31) == FP || (word >> 5 & 31) == FP))
			continue;
		while (row + 1 < count && rows[row + 1].pc <= pc + at)
			row++;
		if (instruction_sets_fp(word, &distance)) {
			if (!points_to_record(&rows[row], distance) ||
			    (record && record != rows[row].fp))
				return 0;
			record = rows[row].fp;
		} else if (instruction_changes_fp(word)) {
			return 0;
		}
	}
	return record;
}

void held_mark(const struct object_part *code, uint32_t pc, struct unwind_row *rows, size_t count)
{
	int record = count ? find_record(code, pc, rows, count) : 0;

	for (size_t i = 0; record && i < count; i++)
		if (is_of_record(&rows[i]) && rows[i].fp == record)
			rows[i].kind |= UNWIND_FP_HELD;
}

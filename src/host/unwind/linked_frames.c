/*
 * A function that keeps no frame pointer leaves its caller's in the register: the chain then leads
 * from its callee to its caller's caller, and the stack does not show that one is missing.
 */
#include "host/unwind/linked_frames.h"

#include "host/core/text/path.h"

#include <string.h>

/* Whether the frame pointer leads to the caller's, with the return address behind it. */
static bool is_linked(const struct unwind_table *table, const struct unwind_row *row)
{
	switch (row->kind & UNWIND_KIND_MASK) {
	case UNWIND_FP:
		return !(row->kind & UNWIND_RA_ALONE) && row->cfa + row->fp == 0;
	case UNWIND_SP:
		return row->kind & UNWIND_FP_HELD;
	case UNWIND_SPECIAL:
		return table->specials[row->cfa].fp_saved == UNWIND_SAVED_AT_BASE &&
		       !table->specials[row->cfa].fp_offset;
	default:
		return false;
	}
}

/* The C library's callers of main() and of threads' functions keep none in most builds: what is
 * missing behind them is the C library's own. */
static bool is_c_library(const struct space_range *range)
{
	const char *name = path_base_name(range->module->path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "libpthread", 10) || !strncmp(name, "ld-musl", 7);
}

enum link { LINK_THERE, LINK_MISSING, LINK_END, LINK_NO_CODE };

static enum link link_of(const struct space *space, uint64_t address)
{
	const struct space_range *range = space_find(space, address - 1);
	const struct unwind_table *table;
	const struct unwind_row *row;
	uint64_t bias;

	if (!range)
		return LINK_NO_CODE;
	table = space_table(space, range, address - 1, &bias);
	if (!table)
		return LINK_MISSING;
	row = unwind_table_find(table, address - 1 - bias);
	if ((row->kind & UNWIND_KIND_MASK) == UNWIND_END)
		return LINK_END;
	return is_linked(table, row) ? LINK_THERE : LINK_MISSING;
}

enum stack_end linked_frames_end(const struct space *space, const uint64_t *frames, size_t count,
				 size_t most, size_t *ret_count)
{
	enum link link = LINK_THERE;
	size_t i = 0;

	while (i < count && (link = link_of(space, frames[i])) == LINK_THERE)
		i++;
	*ret_count = i + (i < count && link != LINK_NO_CODE);
	if (i == count)
		return count < most ? STACK_UNLINKED : STACK_CUT;
	if (link == LINK_END || (link == LINK_MISSING && i + 1 == count &&
				 is_c_library(space_find(space, frames[i] - 1))))
		return STACK_COMPLETE;
	if (link == LINK_NO_CODE)
		return STACK_NO_MAP;
	/* After a function without a frame pointer the register may hold anything: the next frames
	 * count if their functions keep one. */
	for (i++; i < count && link_of(space, frames[i]) == LINK_THERE;)
		i++;
	*ret_count = i;
	return STACK_UNLINKED;
}

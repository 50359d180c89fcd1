/*
 * Rules become rows: eight bytes each, other rules go to the specials.
 */
#pragma once

#include "shared/unwind/row.h"

#include "host/core/cleanup.h"
#include "host/unwind/rules/rules.h"

/* Of one module; a browser has four million. */
#define UNWIND_ROWS_MAX (32u << 20)

struct rows {
	const struct unwind_machine *machine;
	struct unwind_row *items;
	size_t count, room;
	struct unwind_special *specials;
	size_t special_count, special_room;
};

/* From `pc` on; drops rows of later addresses, and a row equal to the one before.  -ENOMEM;
 * -EOVERFLOW over UNWIND_ROWS_MAX. */
int rows_add(struct rows *rows, uint32_t pc, struct unwind_row row) MUST_CHECK;
/* Adds a row that says nothing but its kind. */
static inline int rows_add_kind(struct rows *rows, uint32_t pc, unsigned kind)
{
	return rows_add(rows, pc, (struct unwind_row){ .kind = (__u8)kind, .fp = UNWIND_FP_SAME });
}

/* Adds an exact rule.  UNWIND_BAD where there are too many. */
int rows_add_special(struct rows *rows, uint32_t pc,
		     const struct unwind_special *special) MUST_CHECK;
/* The same, or a short row where that suffices. */
int rows_add_exact(struct rows *rows, uint32_t pc, const struct unwind_special *special) MUST_CHECK;
/* Whether the row has the caller's fp where fp points to. */
bool rows_keep_fp_in_frame(const struct rows *rows, const struct unwind_row *row);
/* Adds such a row, with fp the caller's again. */
int rows_add_with_fp(struct rows *rows, uint32_t pc, const struct unwind_row *row) MUST_CHECK;
int rows_add_rules(struct rows *rows, uint32_t pc, const struct rules *rules) MUST_CHECK;
/* Moves the rows from `first` on into an array, which the caller frees; one element may follow.
 * -ENOMEM. */
int rows_detach(struct rows *rows, size_t first, struct unwind_row **ret,
		size_t *ret_count) MUST_CHECK;
void rows_done(struct rows *rows);
DEFINE_STRUCT_CLEANUP(rows, rows_done)

/*
 * Rules become rows: eight bytes each, what does not fit goes to the specials.
 */
#pragma once

#include "shared/unwind/row.h"

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

/* From `pc` on; what was said of later addresses is forgotten, and a row that says what the one
 * before it says is left out.  -ENOMEM; -EOVERFLOW over UNWIND_ROWS_MAX. */
int rows_add(struct rows *rows, uint32_t pc, struct unwind_row row) MUST_CHECK;
/* A rule as it is.  UNWIND_BAD where there are too many. */
int rows_add_special(struct rows *rows, uint32_t pc,
		     const struct unwind_special *special) MUST_CHECK;
/* Whether the caller's fp is said to lie where fp points to. */
bool rows_keep_fp_in_frame(const struct rows *rows, const struct unwind_row *row);
/* Such a row, where fp is the caller's again. */
int rows_add_with_fp(struct rows *rows, uint32_t pc, const struct unwind_row *row) MUST_CHECK;
int rows_add_rules(struct rows *rows, uint32_t pc, const struct rules *rules) MUST_CHECK;
void rows_done(struct rows *rows);

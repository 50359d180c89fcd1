/*
 * Rows between `push NUMBER` and `pop REGISTER`, by which gcc -Oz sets registers: its rules do not
 * say that sp is a word lower there.  Host only.
 */
#pragma once

#include "host/unwind/rules/rows.h"

/* Rows from `first` on are the function's, whose code begins at `pc`.  -ENOMEM, -EOVERFLOW. */
int pushed_numbers_mend(struct rows *rows, size_t first, const struct object_part *code,
			uint32_t pc) MUST_CHECK;

/*
 * Values of expressions, and the functions of them.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define FORMULA_ARGUMENTS_MAX 4u

enum formula_kind {
	FORMULA_NONE, /* None: a counter that was not collected, too */
	FORMULA_NUMBER,
	FORMULA_COLUMN, /* a number for each row; NaN for None */
	FORMULA_FAILED, /* it makes no sense: with None cannot be computed */
};

struct formula_value {
	enum formula_kind kind;
	double number;
	const double *items;
};

/* Intermediate columns.  Zero is empty. */
struct formula_memory {
	size_t rows;
	double **columns;
	size_t count, room;
};
void formula_memory_done(struct formula_memory *memory);

/* sign: + - * / % or = ! < > g (>=) l (<=).  *error: -ENOMEM. */
struct formula_value formula_compute(struct formula_memory *memory, char sign,
				     struct formula_value left, struct formula_value right,
				     int *error);

/* Where truth holds, value; else other. */
struct formula_value formula_choose(struct formula_memory *memory, struct formula_value value,
				    struct formula_value truth, struct formula_value other,
				    int *error);

/* AVG(...) and its like; *error: -EINVAL for one that there is not. */
struct formula_value formula_call(struct formula_memory *memory, const char *name,
				  const struct formula_value *arguments, size_t count, int *error);

/*
 * Expressions of metrics, as AMD's files have them: Python's arithmetic over columns of counters,
 *
 *   AVG((100 * A / B) if (B != 0) else None)      MAX(TCC_HIT[0] / $denom)
 *
 * with the functions AVG MIN MAX MEDIAN STD SUM QUANTILE ROUND TO_INT MOD CONCAT.
 */
#pragma once

#include "formula_calls.h"

/* Resolves names; variables begin with '$' and are passed without it. */
struct formula_names {
	size_t rows; /* of each column */
	struct formula_value (*column)(void *context, const char *name);
	struct formula_value (*variable)(void *context, const char *name);
	void *context;
};

/* One number; NaN where there is none.  -EINVAL: it is not understood; -ENOMEM. */
int formula_evaluate(const char *text, const struct formula_names *names, double *ret) MUST_CHECK;

/* The same if the result may be a column, which the caller frees. */
int formula_evaluate_column(const char *text, const struct formula_names *names,
			    struct formula_value *ret, double **ret_items) MUST_CHECK;

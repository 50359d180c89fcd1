/*
 * The report of `limpet diff`.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/diff/comparison.h"

struct diff_style {
	uint64_t limit;     /* rows of each table; 0: all */
	bool is_by_total;   /* the change is that of TOTAL, else of SELF */
	bool wants_threads; /* also threads */
};

/* The change that rows are sorted by. */
static inline struct share_change diff_change(const struct comparison *comparison,
					      const struct compared_part *parts, bool is_by_total)
{
	return is_by_total ? comparison_change(comparison, parts[SIDE_A].total_ns,
					       parts[SIDE_B].total_ns)
			   : comparison_change(comparison, parts[SIDE_A].self_ns,
					       parts[SIDE_B].self_ns);
}

/* "new": only in B; "gone": only in A; "both". */
const char *diff_presence(const struct compared_part parts[SIDES]);

/* The largest change first; only entries in one of the two.  The caller frees it; NULL: no
 * memory. */
struct diff_row {
	size_t number; /* of the function or the thread */
	const struct compared_part *parts;
	struct share_change change;
};
struct diff_row *diff_sort_functions(const struct comparison *comparison, bool is_by_total,
				     size_t *ret_count);
struct diff_row *diff_sort_threads(const struct comparison *comparison, size_t *ret_count);

/* For people, for programs.  0 or -ENOMEM. */
int diff_print(const struct comparison *comparison, const struct diff_style *style) MUST_CHECK;
int diff_print_json(const struct comparison *comparison, const struct diff_style *style) MUST_CHECK;

/* Members of the summary. */
void diff_totals_json(struct json *json, const struct comparison *comparison);

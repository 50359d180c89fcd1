/*
 * The tables of `limpet diff`.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/diff/comparison.h"

struct diff_style {
	uint64_t limit;     /* rows of each table; 0: all */
	bool is_by_total;   /* the change is that of TOTAL, else of SELF */
	bool wants_threads; /* also threads */
	bool is_json;       /* an object for each row, all of them */
};

/* 0 or -ENOMEM. */
int diff_print(const struct comparison *comparison, const struct diff_style *style) MUST_CHECK;

/* Members of the summary. */
void diff_totals_json(struct json *json, const struct comparison *comparison);

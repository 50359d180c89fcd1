/*
 * Totals of windows: for each metric its sum, its mean, and a window's minimum and maximum.
 */
#pragma once

#include "host/model/windows/windows.h"

struct window_row {
	const struct model_metric *metric;
	uint64_t windows;            /* with a value */
	uint64_t missing, estimated; /* without a value; scaled ones */
	uint64_t time_ns;            /* of those with a value */
	double total;                /* of a count */
	double mean, least, most;    /* by the second where it is a count (window_rate) */
};

struct window_summary {
	struct window_row *rows; /* by the number of their metric */
	size_t count;
};

/* 0 or -ENOMEM. */
int window_summary_make(struct model *model, struct window_summary *ret) MUST_CHECK;
void window_summary_done(struct window_summary *summary);

static inline void window_summary_done_at_scope_end(struct window_summary *summary)
{
	window_summary_done(summary);
}

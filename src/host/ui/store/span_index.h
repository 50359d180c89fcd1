/*
 * The index of spans by time: rows of a lane without overlaps, the longest of each block of them,
 * and the work whose cause is known.
 */
#pragma once

#include "host/ui/store/spans.h"

/* Spans of a row that begin in one pixel. */
struct span_group {
	size_t first, end; /* in the order of the rows */
};

/* 0 or -ENOMEM. */
int span_index_make(struct spans *spans) MUST_CHECK;

/* The first of a row that does not end before that time. */
size_t span_row_find(const struct spans *spans, const struct span_row *row, uint64_t time_ns);
/* The first from `first` on, and before `end`, that begins at that time or later: `end` where none
 * does. */
size_t span_begin_find(const struct spans *spans, size_t first, size_t end, uint64_t time_ns);
/* Of a group that is not empty. */
const struct span *span_longest(const struct spans *spans, const struct span_group *group);

/* How many of `works` begin before that time. */
size_t span_works_before(const struct spans *spans, uint64_t time_ns);

static inline uint64_t span_length(const struct span *span)
{
	return span->end_ns - MIN(span->end_ns, span->begin_ns);
}

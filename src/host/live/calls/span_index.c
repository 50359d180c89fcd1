/*
 * Builds and searches the index of spans.
 */
#include "host/live/calls/spans.h"

#include "host/core/cleanup.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK 64u

static size_t row_of(const struct span *span)
{
	return (size_t)span->lane * SPAN_LEVELS_MAX + span->level;
}

static const struct span *span_ordered(const struct spans *self, size_t i)
{
	return &self->items[self->order[i]];
}

/* By row, and in each by beginning. */
static void rows_fill(struct spans *self)
{
	size_t rows = self->lane_count * SPAN_LEVELS_MAX, at = 0;

	for (size_t i = 0; i < self->count; i++)
		self->rows[row_of(&self->items[i])].count++;
	for (size_t i = 0; i < rows; i++) {
		self->rows[i].first = at;
		at += self->rows[i].count;
		self->rows[i].count = 0;
	}
	for (size_t i = 0; i < self->count; i++) {
		struct span_row *row = &self->rows[row_of(&self->items[i])];

		self->order[row->first + row->count++] = (uint32_t)i;
	}
}

static void longest_fill(struct spans *self)
{
	for (size_t i = 0; i < self->count; i++) {
		uint32_t *longest = &self->longest[i / BLOCK];

		if (i % BLOCK == 0 ||
		    span_length(span_ordered(self, i)) > span_length(&self->items[*longest]))
			*longest = self->order[i];
	}
}

static int works_fill(struct spans *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->count; i++)
		count += self->items[i].cause != 0;
	self->works = calloc(count + 1, sizeof(*self->works));
	if (!self->works)
		return -ENOMEM;
	for (size_t i = 0; i < self->count; i++)
		if (self->items[i].cause)
			self->works[self->work_count++] = (uint32_t)i;
	return 0;
}

int span_index_make(struct spans *self)
{
	self->rows = calloc(self->lane_count * SPAN_LEVELS_MAX + 1, sizeof(*self->rows));
	self->order = calloc(self->count + 1, sizeof(*self->order));
	self->longest = calloc(self->count / BLOCK + 1, sizeof(*self->longest));
	if (!self->rows || !self->order || !self->longest)
		return -ENOMEM;
	rows_fill(self);
	longest_fill(self);
	return works_fill(self);
}

size_t span_begin_find(const struct spans *self, size_t first, size_t end, uint64_t time_ns)
{
	size_t step = 1;

	/* Mostly it is near. */
	while (first + step < end && span_ordered(self, first + step)->begin_ns < time_ns)
		step *= 2;
	end = MIN(end, first + step);
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (span_ordered(self, middle)->begin_ns < time_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* On the last level spans may overlap: all of those are checked. */
size_t span_row_find(const struct spans *self, const struct span_row *row, uint64_t time_ns)
{
	size_t end = row->first + row->count;
	size_t at = span_begin_find(self, row->first, end, time_ns);

	if (at == row->first)
		return at;
	if (span_ordered(self, at - 1)->level + 1u < SPAN_LEVELS_MAX)
		return span_ordered(self, at - 1)->end_ns >= time_ns ? at - 1 : at;
	for (at = row->first; at < end && span_ordered(self, at)->end_ns < time_ns;)
		at++;
	return at;
}

static const struct span *span_longer(const struct span *a, const struct span *b)
{
	return !a || span_length(b) > span_length(a) ? b : a;
}

const struct span *span_longest(const struct spans *self, const struct span_group *group)
{
	const struct span *longest = NULL;

	for (size_t i = group->first; i < group->end; i++) {
		if (i % BLOCK == 0 && group->end - i >= BLOCK) {
			longest = span_longer(longest, &self->items[self->longest[i / BLOCK]]);
			i += BLOCK - 1;
		} else {
			longest = span_longer(longest, span_ordered(self, i));
		}
	}
	return longest;
}

static uint64_t work_begin_at(const void *items, size_t index)
{
	const struct spans *self = items;

	return self->items[self->works[index]].begin_ns;
}

size_t span_works_before(const struct spans *self, uint64_t time_ns)
{
	return count_below(self, self->work_count, time_ns, work_begin_at);
}

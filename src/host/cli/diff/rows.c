/*
 * Sorts changes.
 */
#include <math.h>
#include <stdlib.h>

#include "host/cli/diff/diff_report.h"

const char *diff_presence(const struct compared_part parts[SIDES])
{
	if (parts[SIDE_A].total_count && parts[SIDE_B].total_count)
		return "both";
	return parts[SIDE_A].total_count ? "gone" : "new";
}

/* Equal changes, such as none: by size. */
static int by_change(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double sizes[] = { fabs(a->change.points), fabs(b->change.points) };
	uint64_t times[] = { a->parts[SIDE_A].total_ns + a->parts[SIDE_B].total_ns,
			     b->parts[SIDE_A].total_ns + b->parts[SIDE_B].total_ns };

	if (sizes[0] < sizes[1] || sizes[0] > sizes[1])
		return sizes[0] > sizes[1] ? -1 : 1;
	if (times[0] != times[1])
		return times[0] > times[1] ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

struct sorting {
	const struct comparison *comparison;
	struct diff_row *rows;
	size_t count;
	bool is_by_total;
};

static void diff_rows_take(struct sorting *self, size_t number,
			   const struct compared_part parts[SIDES])
{
	if (parts[SIDE_A].total_count || parts[SIDE_B].total_count)
		self->rows[self->count++] = (struct diff_row){
			number, parts, diff_change(self->comparison, parts, self->is_by_total)
		};
}

static struct diff_row *rows_sorted(struct sorting *self, size_t *ret_count)
{
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_change);
	*ret_count = self->count;
	return self->rows;
}

struct diff_row *diff_sort_functions(const struct comparison *comparison, bool is_by_total,
				     size_t *ret_count)
{
	struct sorting self = { .comparison = comparison, .is_by_total = is_by_total };

	self.rows = calloc(comparison->function_count + 1, sizeof(*self.rows));
	for (size_t i = 0; self.rows && i < comparison->function_count; i++)
		diff_rows_take(&self, i, comparison->functions[i].parts);
	return rows_sorted(&self, ret_count);
}

struct diff_row *diff_sort_threads(const struct comparison *comparison, size_t *ret_count)
{
	struct sorting self = { .comparison = comparison, .is_by_total = true };

	self.rows = calloc(comparison->thread_count + 1, sizeof(*self.rows));
	for (size_t i = 0; self.rows && i < comparison->thread_count; i++)
		diff_rows_take(&self, i, comparison->threads[i].parts);
	return rows_sorted(&self, ret_count);
}

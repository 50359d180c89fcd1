/*
 * Adds ranges and marks up by name.
 */
#include "host/model/calls/markers.h"

#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct marker_row *row, const struct call *call)
{
	return row->kind == call->kind && row->is_process_wide == call->is_process_wide &&
	       strcmp(row->name, call_name(call)) == 0 &&
	       strcmp(row->library, call->function->library) == 0;
}

/* Rows with equal hashes are distinguished by a second number.  NULL: no memory. */
static struct marker_row *find_row(struct markers *self, const struct call *call)
{
	const char *name = call_name(call);
	uint64_t hash = hash_bytes(name, strlen(name));

	for (uint64_t turn = 0;; turn++) {
		struct marker_row *row = row_find(&self->by_name, (struct row_key){ hash, turn },
						  &self->rows, &self->count, sizeof(*row));

		if (!row || (row->name && is_of(row, call)))
			return row;
		if (row->name)
			continue;
		*row = (struct marker_row){ .kind = call->kind,
					    .is_process_wide = call->is_process_wide,
					    .name = strdup(name),
					    .library = call->function->library };
		return row->name ? row : NULL;
	}
}

int markers_add(struct markers *self, const struct call *call)
{
	uint64_t duration_ns = call->end_ns - call->begin_ns;
	struct marker_row *row;

	if (call->kind == CALL_PLAIN)
		return 0;
	row = find_row(self, call);
	if (!row)
		return -ENOMEM;
	statistics_add(&row->statistics, duration_ns);
	row->unfinished += call->cut != RANGE_WHOLE;
	self->unfinished += call->cut != RANGE_WHOLE;
	self->ranges += call->kind == CALL_RANGE;
	self->marks += call->kind == CALL_MARK;
	self->total_ns += duration_ns;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct marker_row *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	if (a->statistics.calls != b->statistics.calls)
		return a->statistics.calls > b->statistics.calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

void markers_sort(struct markers *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void markers_done(struct markers *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		free(self->rows[i].name);
	free(self->rows);
	table_done(&self->by_name.numbers);
}

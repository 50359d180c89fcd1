/*
 * Adds ranges and marks up by name.
 */
#include "host/model/calls/markers.h"
#include "shared/base/hash.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_row(struct markers *self, const struct call *call)
{
	char *name = strdup(call_name(call));

	if (!name || make_room(&self->rows, self->count, &self->room, sizeof(*self->rows))) {
		free(name);
		return -ENOMEM;
	}
	self->rows[self->count++] = (struct marker_row){ .kind = call->kind,
							 .is_process_wide = call->is_process_wide,
							 .name = name,
							 .library = call->function->library };
	return 0;
}

static bool is_of(const struct marker_row *row, const struct call *call)
{
	return row->kind == call->kind && row->is_process_wide == call->is_process_wide &&
	       strcmp(row->name, call_name(call)) == 0 &&
	       strcmp(row->library, call->function->library) == 0;
}

/* Rows with equal hashes are distinguished by a second number. */
static int find_row(struct markers *self, const struct call *call, uint64_t *ret)
{
	const char *name = call_name(call);
	uint64_t hash = hash_bytes(name, strlen(name));

	for (uint64_t turn = 0;; turn++) {
		bool is_new;
		struct table_entry *entry = table_make(&self->by_name, hash, turn, &is_new);

		if (!entry)
			return -ENOMEM;
		if (is_new)
			entry->value = self->count;
		*ret = entry->value;
		if (is_new)
			return add_row(self, call);
		if (is_of(&self->rows[*ret], call))
			return 0;
	}
}

int markers_take(struct markers *self, const struct call *call)
{
	uint64_t number;

	if (call->kind == CALL_PLAIN)
		return 0;
	if (find_row(self, call, &number))
		return -ENOMEM;
	statistics_add(&self->rows[number].statistics, call->end_ns - call->begin_ns);
	self->rows[number].unfinished += call->cut != RANGE_WHOLE;
	self->unfinished += call->cut != RANGE_WHOLE;
	self->ranges += call->kind == CALL_RANGE;
	self->marks += call->kind == CALL_MARK;
	self->total_ns += call->end_ns - call->begin_ns;
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
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void markers_done(struct markers *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		free(self->rows[i].name);
	free(self->rows);
	table_done(&self->by_name);
}

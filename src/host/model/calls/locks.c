/*
 * Adds waiting up by lock.
 */
#include "host/model/calls/locks.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

static int add_row(struct locks *self, const struct lock_row *row)
{
	if (make_room(&self->rows, self->count, &self->room, sizeof(*self->rows)))
		return -ENOMEM;
	self->rows[self->count++] = *row;
	return 0;
}

int locks_take(struct locks *self, const struct call *call)
{
	struct lock_row row = { .process = call->process, .function = call->function };
	struct table_entry *entry;
	uint64_t owner = 0;
	bool is_new;

	if (call->function->domain != DOMAIN_LOCK || !call_value(call, VALUE_OBJECT, &row.object))
		return 0;
	call_value(call, VALUE_OWNER, &owner);
	row.owner = (int32_t)owner;
	entry = table_make(&self->by_lock, row.object,
			   (uint64_t)call->process->number << 32 | (uint32_t)owner, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->count;
		if (add_row(self, &row))
			return -ENOMEM;
	}
	statistics_add(&self->rows[entry->value].statistics, call->end_ns - call->begin_ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct lock_row *a = left, *b = right;

	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return a->object > b->object ? 1 : -1;
}

void locks_sort(struct locks *self)
{
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void locks_done(struct locks *self)
{
	free(self->rows);
	table_done(&self->by_lock);
}

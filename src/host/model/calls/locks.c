/*
 * Adds waiting up by lock.
 */
#include "host/model/calls/locks.h"

#include <errno.h>
#include <stdlib.h>

int locks_add(struct locks *self, const struct call *call)
{
	int32_t owner = (int32_t)call_number(call, VALUE_OWNER);
	uint64_t object;
	struct lock_row *row;

	if (call->function->domain != DOMAIN_LOCK || !call_value(call, VALUE_OBJECT, &object))
		return 0;
	row = row_find(
		&self->by_lock,
		(struct row_key){ object, (uint64_t)call->process->number << 32 | (uint32_t)owner },
		&self->rows, &self->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	if (!row->function) {
		row->process = call->process;
		row->function = call->function;
		row->object = object;
		row->owner = owner;
	}
	statistics_add(&row->statistics, call->end_ns - call->begin_ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct lock_row *a = left, *b = right;
	int order = statistics_by_time(&a->statistics, &b->statistics);

	return order ? order : a->object > b->object ? 1 : -1;
}

void locks_sort(struct locks *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_time);
}

void locks_done(struct locks *self)
{
	free(self->rows);
	table_done(&self->by_lock.numbers);
}

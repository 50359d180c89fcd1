/*
 * Adds errors of GPU runtimes up.
 */
#include "host/model/devices/api_errors.h"

#include "host/core/room.h"
#include "host/runtimes/runtimes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char *api_error_name(const struct api_error_row *row, char buffer[32])
{
	const char *name = runtime_error_name(row->function->domain, row->result);

	if (name)
		return name;
	snprintf(buffer, 32, "error %d", row->result);
	return buffer;
}

int api_errors_take(struct api_errors *self, const struct call *call)
{
	uint64_t result = 0;
	struct table_entry *entry;
	bool is_new;

	if (!domain_is_in(DOMAINS_RESULTS, call->function->domain) ||
	    !call_value(call, VALUE_RESULT, &result) || !(int32_t)result)
		return 0;
	entry = table_make(&self->by_result, call->function_number, (uint32_t)result, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		if (make_room(&self->rows, self->count, &self->room, sizeof(*self->rows)))
			return -ENOMEM;
		self->rows[self->count++] = (struct api_error_row){ .function = call->function,
								    .result = (int32_t)result };
		entry->value = self->count;
	}
	if (entry->value)
		self->rows[entry->value - 1].calls++;
	return 0;
}

static int by_calls(const void *left, const void *right)
{
	const struct api_error_row *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return (a->result > b->result) - (a->result < b->result);
}

void api_errors_sort(struct api_errors *self)
{
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_calls);
}

void api_errors_done(struct api_errors *self)
{
	free(self->rows);
	table_done(&self->by_result);
	*self = (struct api_errors){ 0 };
}

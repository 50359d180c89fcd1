/*
 * Adds errors of GPU runtimes up.
 */
#include "host/model/devices/api_errors.h"

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

int api_errors_add(struct api_errors *self, const struct call *call)
{
	int32_t result = (int32_t)call_number(call, VALUE_RESULT);
	struct api_error_row *row;

	if (!domain_is_in(DOMAINS_RESULTS, call->function->domain) || !result)
		return 0;
	row = row_find(&self->by_result,
		       (struct row_key){ call->function_number, (uint32_t)result }, &self->rows,
		       &self->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->function = call->function;
	row->result = result;
	row->calls++;
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
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_calls);
}

void api_errors_done(struct api_errors *self)
{
	free(self->rows);
	table_done(&self->by_result.numbers);
	*self = (struct api_errors){ 0 };
}

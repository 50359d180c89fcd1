/*
 * Adds up work of devices.
 */
#include "host/model/devices/work.h"

#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int work_add(struct work *work, const struct call *call)
{
	uint64_t duration_ns = call->end_ns - call->begin_ns, owner = call_device(call);
	unsigned domain = call->function->domain;
	const char *name = call_name(call);
	struct work_row *row;

	if (!call_is_work(call))
		return 0;
	row = row_find(&work->by_name,
		       (struct row_key){ (uint64_t)call->process->number << 32 ^ owner,
					 hash_bytes(name, strlen(name)) + domain },
		       &work->rows, &work->count, sizeof(*row));
	if (row && !row->name)
		*row = (struct work_row){ .domain = domain,
					  .name = strdup(name),
					  .process = call->process,
					  .device = call_number(call, VALUE_DEVICE),
					  .owner = owner };
	if (!row || !row->name)
		return -ENOMEM;
	row->bytes += call_number(call, VALUE_SIZE);
	statistics_add(&row->statistics, duration_ns);
	statistics_add(&work->domains[domain], duration_ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct work_row *a = left, *b = right;
	int order = statistics_by_time(&a->statistics, &b->statistics);

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return order ? order : strcmp(a->name, b->name);
}

void work_sort(struct work *work)
{
	rows_sort(work->rows, work->count, sizeof(*work->rows), by_time);
}

void work_done(struct work *work)
{
	for (uint32_t i = 0; i < work->count; i++)
		free(work->rows[i].name);
	free(work->rows);
	table_done(&work->by_name.numbers);
	*work = (struct work){ 0 };
}

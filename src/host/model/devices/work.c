/*
 * Adds up work of devices.
 */
#include "host/model/devices/work.h"
#include "shared/base/hash.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct work_row *add_row(struct work *work, const struct call *call, uint64_t owner)
{
	struct work_row *row;

	if (make_room(&work->rows, work->count, &work->room, sizeof(*work->rows)))
		return NULL;
	row = &work->rows[work->count];
	*row = (struct work_row){ .domain = call->function->domain,
				  .name = strdup(call_name(call)),
				  .process = call->process,
				  .owner = owner };
	call_value(call, VALUE_DEVICE, &row->device);
	work->count += row->name != NULL;
	return row->name ? row : NULL;
}

static struct work_row *find_row(struct work *work, const struct call *call)
{
	const char *name = call_name(call);
	uint64_t owner = call_device(call);
	struct table_entry *entry;
	bool is_new;

	entry = table_make(&work->by_name, (uint64_t)call->process->number << 32 ^ owner,
			   hash_bytes(name, strlen(name)) + call->function->domain, &is_new);
	if (!entry || (is_new && !add_row(work, call, owner)))
		return NULL;
	if (is_new)
		entry->value = work->count;
	return entry->value ? &work->rows[entry->value - 1] : NULL;
}

int work_take(struct work *work, const struct call *call)
{
	uint64_t duration_ns = call->end_ns - call->begin_ns, bytes = 0;
	struct work_row *row;

	if (!call_is_work(call))
		return 0;
	row = find_row(work, call);
	if (!row)
		return -ENOMEM;
	call_value(call, VALUE_SIZE, &bytes);
	row->bytes += bytes;
	statistics_add(&row->statistics, duration_ns);
	statistics_add(&work->domains[call->function->domain], duration_ns);
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct work_row *a = left, *b = right;

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->statistics.total_ns != b->statistics.total_ns)
		return a->statistics.total_ns > b->statistics.total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

void work_sort(struct work *work)
{
	if (work->count)
		qsort(work->rows, work->count, sizeof(*work->rows), by_time);
}

void work_done(struct work *work)
{
	for (uint32_t i = 0; i < work->count; i++)
		free(work->rows[i].name);
	free(work->rows);
	table_done(&work->by_name);
	*work = (struct work){ 0 };
}

/*
 * Adds up the time of devices.
 */
#include "host/model/devices/device_time.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

static struct device_row *row_find(struct device_time *self, const struct call *call,
				   uint64_t device, bool is_queue, uint64_t queue)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&self->by_queue, (uint64_t)call->process->number << 32 ^ device,
			   is_queue ? queue + 1 : 0, &is_new);

	if (!entry)
		return NULL;
	if (is_new) {
		if (make_room(&self->rows, self->count, &self->room, sizeof(*self->rows)))
			return NULL;
		self->rows[self->count++] = (struct device_row){ .process = call->process,
								 .device = device,
								 .queue = queue,
								 .is_queue = is_queue };
		entry->value = self->count;
	}
	return entry->value ? &self->rows[entry->value - 1] : NULL;
}

/* Splits a gap: the time until the launch, and after it. */
static void gap_add(struct device_row *row, uint64_t begin_ns, uint64_t cause_ns)
{
	uint64_t gap_ns = begin_ns - row->last_ns;
	uint64_t late_ns = cause_ns > row->last_ns ? MIN(cause_ns - row->last_ns, gap_ns) : 0;

	statistics_add(&row->gaps, gap_ns);
	if (!cause_ns)
		return;
	row->not_launched_ns += late_ns;
	row->launched_ns += gap_ns - late_ns;
}

static void row_add(struct device_row *row, const struct call *call, uint64_t cause_ns)
{
	if (!row->work)
		row->first_ns = row->last_ns = call->begin_ns;
	if (call->begin_ns > row->last_ns)
		gap_add(row, call->begin_ns, cause_ns);
	if (call->end_ns > row->last_ns)
		row->busy_ns += call->end_ns - MAX(call->begin_ns, row->last_ns);
	row->last_ns = MAX(row->last_ns, call->end_ns);
	row->work++;
	if (cause_ns && call->begin_ns >= cause_ns)
		statistics_add(&row->delay, call->begin_ns - cause_ns);
}

static int work_add(struct device_time *self, const struct model *model, const struct call *call)
{
	uint64_t device = call_device(call), queue = 0, cause = 0;
	bool has_queue = call_value(call, VALUE_QUEUE, &queue);
	struct device_row *row;

	call_value(call, VALUE_CAUSE, &cause);
	if (cause)
		cause = model_time_ns(model, cause);
	row = row_find(self, call, device, false, 0);
	if (!row)
		return -ENOMEM;
	row_add(row, call, cause);
	row = has_queue ? row_find(self, call, device, true, queue) : NULL;
	if (row)
		row_add(row, call, cause);
	return has_queue && !row ? -ENOMEM : 0;
}

static int block_add(struct device_time *self, const struct call *call, uint64_t address)
{
	uint64_t device = call_device(call), bytes = 0;
	struct device_row *row = row_find(self, call, device, false, 0);
	bool is_new;
	struct table_entry *entry =
		table_make(&self->blocks, call->process->number, address, &is_new);

	if (!row || !entry)
		return -ENOMEM;
	call_value(call, VALUE_SIZE, &bytes);
	if (!is_new)
		row->bytes -= MIN(row->bytes, entry->value);
	entry->value = bytes;
	entry->more = device;
	row->bytes += bytes;
	row->peak_bytes = MAX(row->peak_bytes, row->bytes);
	return 0;
}

/* One that was there before the recording is not known. */
static int block_remove(struct device_time *self, const struct call *call, uint64_t address)
{
	struct table_entry *entry = table_find(&self->blocks, call->process->number, address);
	struct device_row *row = entry ? row_find(self, call, entry->more, false, 0) : NULL;

	if (!entry)
		return 0;
	if (row)
		row->bytes -= MIN(row->bytes, entry->value);
	table_remove(&self->blocks, entry);
	return row ? 0 : -ENOMEM;
}

static int memory_add(struct device_time *self, const struct call *call)
{
	uint64_t operation = 0, address = 0;

	if (!call_value(call, VALUE_OPERATION, &operation) ||
	    !call_value(call, VALUE_ADDRESS, &address) || !address)
		return 0;
	if (operation == MEMORY_ALLOCATE)
		return block_add(self, call, address);
	return operation == MEMORY_FREE ? block_remove(self, call, address) : 0;
}

int device_time_take(struct device_time *self, const struct model *model, const struct call *call)
{
	unsigned domain = call->function->domain;

	if (domain == DOMAIN_KERNEL || domain == DOMAIN_COPY)
		return work_add(self, model, call);
	return domain == DOMAIN_MEMORY ? memory_add(self, call) : 0;
}

static int by_device(const void *left, const void *right)
{
	const struct device_row *a = left, *b = right;

	if (a->process != b->process)
		return a->process->number < b->process->number ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->is_queue != b->is_queue)
		return a->is_queue ? 1 : -1;
	return a->busy_ns > b->busy_ns ? -1 : a->busy_ns < b->busy_ns;
}

void device_time_sort(struct device_time *self)
{
	if (self->count)
		qsort(self->rows, self->count, sizeof(*self->rows), by_device);
}

void device_time_done(struct device_time *self)
{
	free(self->rows);
	table_done(&self->by_queue);
	table_done(&self->blocks);
	*self = (struct device_time){ 0 };
}

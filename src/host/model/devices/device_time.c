/*
 * Adds up the time of devices, their work, and errors of GPU runtimes.
 */
#include "host/model/devices/device_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/runtimes/runtimes.h"
#include "shared/base/hash.h"

static struct device_row *device_row(struct device_time *self, const struct call *call,
				     uint64_t device, const uint64_t *queue)
{
	struct device_row *row =
		row_find(&self->by_queue,
			 (struct row_key){ (uint64_t)call->process->number << 32 ^ device,
					   queue ? *queue + 1 : 0 },
			 &self->rows, &self->count, sizeof(*row));

	if (row && !row->process) {
		row->process = call->process;
		row->device = device;
		row->queue = queue ? *queue : 0;
		row->is_queue = queue != NULL;
	}
	return row;
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

static int device_work_add(struct device_time *self, const struct call *call)
{
	uint64_t device = call_device(call), cause = call_number(call, VALUE_CAUSE), queue;
	struct device_row *row = device_row(self, call, device, NULL);

	if (cause)
		cause = model_time_ns(call->model, cause);
	if (!row)
		return -ENOMEM;
	row_add(row, call, cause);
	if (!call_value(call, VALUE_QUEUE, &queue))
		return 0;
	row = device_row(self, call, device, &queue);
	if (!row)
		return -ENOMEM;
	row_add(row, call, cause);
	return 0;
}

static int block_add(struct device_time *self, const struct call *call, uint64_t address)
{
	uint64_t device = call_device(call), bytes = call_number(call, VALUE_SIZE);
	struct device_row *row = device_row(self, call, device, NULL);
	bool is_new;
	struct table_entry *entry =
		table_make(&self->blocks, call->process->number, address, &is_new);

	if (!row || !entry)
		return -ENOMEM;
	if (!is_new)
		row->bytes -= MIN(row->bytes, entry->value);
	entry->value = bytes;
	entry->more = device;
	row->bytes += bytes;
	row->peak_bytes = MAX(row->peak_bytes, row->bytes);
	return 0;
}

/* Blocks from before the recording are not known. */
static int block_remove(struct device_time *self, const struct call *call, uint64_t address)
{
	struct table_entry *entry = table_find(&self->blocks, call->process->number, address);
	struct device_row *row = entry ? device_row(self, call, entry->more, NULL) : NULL;

	if (!entry)
		return 0;
	if (row)
		row->bytes -= MIN(row->bytes, entry->value);
	table_remove(&self->blocks, entry);
	return row ? 0 : -ENOMEM;
}

static int memory_add(struct device_time *self, const struct call *call)
{
	uint64_t operation, address = call_number(call, VALUE_ADDRESS);

	if (!address || !call_value(call, VALUE_OPERATION, &operation))
		return 0;
	if (operation == MEMORY_ALLOCATE)
		return block_add(self, call, address);
	return operation == MEMORY_FREE ? block_remove(self, call, address) : 0;
}

int device_time_add(struct device_time *self, const struct call *call)
{
	unsigned domain = call->function->domain;

	if (domain == DOMAIN_KERNEL || domain == DOMAIN_COPY)
		return device_work_add(self, call);
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
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_device);
}

void device_time_done(struct device_time *self)
{
	free(self->rows);
	table_done(&self->by_queue.numbers);
	table_done(&self->blocks);
	*self = (struct device_time){ 0 };
}

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

static int work_by_time(const void *left, const void *right)
{
	const struct work_row *a = left, *b = right;
	int order = statistics_by_time(&a->statistics, &b->statistics);

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return order ? order : strcmp(a->name, b->name);
}

void work_sort(struct work *work)
{
	rows_sort(work->rows, work->count, sizeof(*work->rows), work_by_time);
}

void work_done(struct work *work)
{
	for (uint32_t i = 0; i < work->count; i++)
		free(work->rows[i].name);
	free(work->rows);
	table_done(&work->by_name.numbers);
	*work = (struct work){ 0 };
}

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

static int errors_by_calls(const void *left, const void *right)
{
	const struct api_error_row *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return (a->result > b->result) - (a->result < b->result);
}

void api_errors_sort(struct api_errors *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), errors_by_calls);
}

void api_errors_done(struct api_errors *self)
{
	free(self->rows);
	table_done(&self->by_result.numbers);
	*self = (struct api_errors){ 0 };
}

/*
 * The lists of records, one for each domain, each a pass over the model; the names of their
 * operations; and the counters of kernels that were alone.
 *
 * Operations are indexes in a list for each kind: AMD's own names in front where it has any, then
 * the functions that were recorded.
 */
#include "host/export/amd/json/json_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/exporter.h"

/* Of AMD's structures. */
#define API_RECORD_BYTES    64u
#define DISPATCH_INFO_BYTES 72u
#define DISPATCH_DATA_BYTES 104u

/* Operations by AMD's numbers, for kinds whose operations are no functions. */
static const char *const copy_operations[] = {
	"MEMORY_COPY_NONE",           "MEMORY_COPY_HOST_TO_HOST",     "MEMORY_COPY_HOST_TO_DEVICE",
	"MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE", NULL
};
static const char *const memory_operations[] = {
	"MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",  "MEMORY_ALLOCATION_VMEM_ALLOCATE",
	"MEMORY_ALLOCATION_FREE", "MEMORY_ALLOCATION_VMEM_FREE", NULL
};
static const char *const scratch_operations[] = { "SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
						  "SCRATCH_MEMORY_FREE",
						  "SCRATCH_MEMORY_ASYNC_RECLAIM", NULL };
static const char *const kernel_operations[] = { "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
						 "KERNEL_DISPATCH_COMPLETE", NULL };
static const char *const marker_operations[] = { "roctxMarkA", "roctxThreadRangeA",
						 "roctxProcessRangeA", NULL };

static const char *const *const fixed_operations[AMD_KINDS_MAX] = {
	[KIND_COPY] = copy_operations,       [KIND_MEMORY] = memory_operations,
	[KIND_SCRATCH] = scratch_operations, [KIND_KERNEL] = kernel_operations,
	[KIND_MARKER] = marker_operations,
};

static uint32_t count_fixed(enum amd_kind kind)
{
	uint32_t count = 0;

	while (fixed_operations[kind] && fixed_operations[kind][count])
		count++;
	return count;
}

/* If AMD has no number for it: the most similar one. */
static const char *nearest_operation(const char *operation)
{
	static const char *const nearest[][2] = {
		{ "MEMORY_ALLOCATION_REALLOCATE", "MEMORY_ALLOCATION_ALLOCATE" },
		{ "MEMORY_ALLOCATION_RECLAIM", "MEMORY_ALLOCATION_FREE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(nearest); i++)
		if (strcmp(operation, nearest[i][0]) == 0)
			return nearest[i][1];
	return operation;
}

static uint32_t operation_number(const struct results *self, const struct amd_event *event)
{
	const char *const *fixed = fixed_operations[event->kind];
	const char *operation = nearest_operation(event->operation);

	for (uint32_t i = 0; fixed && fixed[i]; i++)
		if (strcmp(fixed[i], operation) == 0)
			return i;
	return self->operations[event->call->function - self->process->functions];
}

int results_number(struct results *self)
{
	uint32_t counts[AMD_KINDS_MAX];

	self->operations = calloc(MAX(self->process->function_count, 1u), sizeof(uint32_t));
	if (!self->operations)
		return -ENOMEM;
	for (unsigned kind = 0; kind < AMD_KINDS_MAX; kind++)
		counts[kind] = count_fixed(kind);
	for (uint32_t i = 0; i < self->process->function_count; i++)
		self->operations[i] = counts[amd_kind_of(&self->process->functions[i])]++;
	return 0;
}

void results_operations(const struct results *self, enum amd_kind kind)
{
	/* Work has AMD's operations alone: limpet's function for all of them has no name there. */
	bool is_work = fixed_operations[kind] && kind != KIND_MARKER;
	struct json *json = self->json;

	json_object(json, NULL);
	json_text(json, "kind", amd_kind_name(kind));
	json_list(json, "operations");
	for (uint32_t i = 0; i < count_fixed(kind); i++)
		json_text(json, NULL, fixed_operations[kind][i]);
	for (uint32_t i = 0; !is_work && i < self->process->function_count; i++)
		if (amd_kind_of(&self->process->functions[i]) == kind)
			json_text(json, NULL, self->process->functions[i].name);
	json_list_end(json);
	json_object_end(json);
}

static void write_sizes(struct json *json, const char *key, const struct amd_event *event,
			enum value_kind first)
{
	json_object(json, key);
	json_number(json, "x", event_value(event, first));
	json_number(json, "y", event_value(event, first + 1));
	json_number(json, "z", event_value(event, first + 2));
	json_object_end(json);
}

static void write_dispatch(struct json *json, const struct amd_event *event)
{
	json_object(json, "dispatch_info");
	json_number(json, "size", DISPATCH_INFO_BYTES);
	json_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	json_handle(json, "queue_id", event_value(event, VALUE_QUEUE));
	json_number(json, "kernel_id", event->kernel);
	json_number(json, "dispatch_id", event_value(event, VALUE_DISPATCH));
	json_number(json, "private_segment_size", event_value(event, VALUE_SCRATCH_BYTES));
	json_number(json, "group_segment_size", event_value(event, VALUE_LOCAL_BYTES));
	write_sizes(json, "workgroup_size", event, VALUE_GROUP_X);
	write_sizes(json, "grid_size", event, VALUE_GRID_X);
	json_object_end(json);
}

static void write_kernel(struct json *json, const struct amd_event *event)
{
	write_dispatch(json, event);
	json_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_copy(struct json *json, const struct amd_event *event)
{
	json_handle(json, "dst_agent_id", event_value(event, VALUE_DEVICE));
	json_handle(json, "src_agent_id", event_value(event, VALUE_FROM_DEVICE));
	json_number(json, "bytes", event_value(event, VALUE_SIZE));
	json_number(json, "dst_address", event_value(event, VALUE_ADDRESS));
	json_number(json, "src_address", event_value(event, VALUE_OLD_ADDRESS));
	json_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_memory(struct json *json, const struct amd_event *event)
{
	char address[32];

	/* As text: readers of JSON lose the last digits of large numbers. */
	snprintf(address, sizeof(address), "0x%016" PRIx64, event_value(event, VALUE_ADDRESS));
	json_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	json_text(json, "address", address);
	json_number(json, "allocation_size", event_value(event, VALUE_SIZE));
	json_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_scratch(struct json *json, const struct amd_event *event)
{
	json_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	json_handle(json, "queue_id", event_value(event, VALUE_QUEUE));
	json_number(json, "flags", event_value(event, VALUE_FLAGS));
	json_number(json, "allocation_size", event_value(event, VALUE_SIZE));
}

/* Of AMD's structures for them. */
static const unsigned record_bytes[AMD_DOMAINS] = {
	[AMD_KERNEL] = 184, [AMD_COPY] = 96, [AMD_MEMORY] = 88,
	[AMD_SCRATCH] = 96, [AMD_HIP] = 176, [AMD_ROCDECODE] = 112,
};

static void (*const detail_writers[AMD_DOMAINS])(struct json *json,
						 const struct amd_event *event) = {
	[AMD_KERNEL] = write_kernel,
	[AMD_COPY] = write_copy,
	[AMD_MEMORY] = write_memory,
	[AMD_SCRATCH] = write_scratch,
};

static int write_record(const struct amd_event *event, void *context)
{
	struct results *self = context;
	struct json *json = self->json;

	if (event->domain != self->domain)
		return 0;
	json_object(json, NULL);
	json_number(json, "size",
		    record_bytes[event->domain] ? record_bytes[event->domain] : API_RECORD_BYTES);
	json_number(json, "kind", event->kind);
	json_number(json, "operation", operation_number(self, event));
	json_object(json, "correlation_id");
	json_number(json, "internal", event->correlation);
	json_number(json, "external", event->region[0] ? event->correlation : 0);
	json_number(json, "ancestor", 0);
	json_object_end(json);
	json_number(json, "start_timestamp", event->call->begin_ns);
	json_number(json, "end_timestamp", event->call->end_ns);
	json_signed(json, "thread_id", event->tid);
	if (detail_writers[event->domain])
		detail_writers[event->domain](json, event);
	json_object_end(json);
	return export_state(json->out);
}

/* AMD's own lists are written even when empty. */
int results_records(struct results *self)
{
	static const char *const others[] = { "pc_sample_host_trap", "pc_sample_stochastic" };
	int r = 0;

	json_object(self->json, "buffer_records");
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++) {
		bool is_filled = self->stats.domains[domain].calls != 0;

		if ((!is_filled && domain >= AMD_OPENCL) || domain == AMD_COUNTER)
			continue;
		self->domain = domain;
		json_list(self->json, amd_domains[domain].list);
		if (is_filled)
			r = amd_each_event(self->view, write_record, self);
		json_list_end(self->json);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		json_empty_list(self->json, others[i]);
	json_object_end(self->json);
	return r;
}

static void write_counter(struct json *json, const struct recorded_counter *counter)
{
	json_object(json, NULL);
	json_handle(json, "id", counter->number);
	json_number(json, "is_constant", 0);
	json_number(json, "is_derived", counter->block[0] ? 0 : 1);
	json_text(json, "name", counter->name);
	json_text(json, "description", counter->description);
	json_text(json, "block", counter->block);
	json_text(json, "expression", counter->expression);
	json_object_end(json);
}

void results_counters(const struct results *self)
{
	const struct model_process *process = self->process;

	json_list(self->json, "counters");
	for (uint32_t i = process->counter_events; i < process->counter_count; i++)
		write_counter(self->json, &process->counters[i]);
	json_list_end(self->json);
}

/* One for each place where it was counted. */
static int write_values(const struct recorded_counter *counter, const struct counter_values *values,
			void *context)
{
	struct json *json = context;

	for (size_t i = 0; i < values->count; i++) {
		json_object(json, NULL);
		json_handle(json, "counter_id", counter->number);
		json_rounded(json, "value", values->items[i].value, 6);
		json_object_end(json);
	}
	return 0;
}

static int write_counted(const struct amd_event *event, void *context)
{
	struct results *self = context;
	struct json *json = self->json;
	int r;

	if (event->domain != AMD_COUNTER)
		return 0;
	json_object(json, NULL);
	json_signed(json, "thread_id", event->tid);
	json_object(json, "dispatch_data");
	json_number(json, "size", DISPATCH_DATA_BYTES);
	json_object(json, "correlation_id");
	json_number(json, "internal", event->correlation);
	json_number(json, "external", 0);
	json_object_end(json);
	json_number(json, "start_timestamp", event->call->begin_ns);
	json_number(json, "end_timestamp", event->call->end_ns);
	write_dispatch(json, event);
	json_object_end(json);
	json_list(json, "records");
	r = counted_each(&self->view->counted, event->call, write_values, json);
	json_list_end(json);
	json_handle(json, "stream_id", event_value(event, VALUE_STREAM));
	json_object_end(json);
	return r ? r : export_state(json->out);
}

int results_counted(struct results *self)
{
	int r = 0;

	json_object(self->json, "callback_records");
	json_list(self->json, "counter_collection");
	if (self->stats.domains[AMD_COUNTER].calls)
		r = amd_each_event(self->view, write_counted, self);
	json_list_end(self->json);
	json_object_end(self->json);
	return r;
}

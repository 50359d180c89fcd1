/*
 * The lists of records, one for each domain, each a pass over the model.
 */
#include "host/export/amd/json/json_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "host/export/exporter.h"

#define API_RECORD_BYTES    64u
#define DISPATCH_INFO_BYTES 72u

/* As text: readers of JSON lose the last digits of large numbers. */
static void json_address(struct json *json, const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, address);
	json_text(json, key, text);
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

void json_dispatch(struct json *json, const struct amd_event *event)
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
	json_dispatch(json, event);
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
	json_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	json_address(json, "address", event_value(event, VALUE_ADDRESS));
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

typedef void detail_writer(struct json *json, const struct amd_event *event);

static detail_writer *const detail_writers[AMD_DOMAINS] = {
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
	json_number(json, "operation", results_operation(self, event));
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

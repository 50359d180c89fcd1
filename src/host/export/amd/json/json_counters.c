/*
 * The requested counters, and their values for kernels that were alone: "counters", and
 * "callback_records" with the values of each.
 */
#include "host/export/amd/json/json_parts.h"

#include "host/export/exporter.h"

#define DISPATCH_DATA_BYTES 104u

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
	json_dispatch(json, event);
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

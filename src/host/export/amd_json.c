/*
 * rocprof-json: the structure of rocprofv3's results.json.  Records name their function by kind and
 * operation, which are places in the lists of "strings"; both are written for what the recording
 * holds, so names are found as AMD's readers find them.
 *
 * Lists are by domain, a model is by time: each list is a pass of its own over the model, and
 * memory does not grow.
 */
#include "host/export/amd_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/demangle.h"
#include "host/core/json.h"
#include "host/core/text.h"
#include "host/export/agents.h"
#include "host/export/amd_stats.h"
#include "host/export/exporter.h"

/* Operations by AMD's numbers, of kinds whose operations are no functions. */
static const char *const copy_operations[] = {
	"MEMORY_COPY_NONE",           "MEMORY_COPY_HOST_TO_HOST",     "MEMORY_COPY_HOST_TO_DEVICE",
	"MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE", NULL
};
static const char *const memory_operations[] = {
	"MEMORY_ALLOCATION_NONE",          "MEMORY_ALLOCATION_ALLOCATE",
	"MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE",
	"MEMORY_ALLOCATION_VMEM_FREE",     "MEMORY_ALLOCATION_REALLOCATE",
	"MEMORY_ALLOCATION_RECLAIM",       NULL
};
static const char *const scratch_operations[] = { "SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
						  "SCRATCH_MEMORY_FREE",
						  "SCRATCH_MEMORY_ASYNC_RECLAIM", NULL };
static const char *const kernel_operations[] = { "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
						 "KERNEL_DISPATCH_COMPLETE", NULL };
static const char *const marker_operations[] = { "roctxMarkA", "roctxThreadRangeA",
						 "roctxProcessRangeA", NULL };

static const char *const *const fixed_operations[AMD_KINDS] = {
	[KIND_COPY] = copy_operations,           [KIND_MEMORY] = memory_operations,
	[KIND_SCRATCH] = scratch_operations,     [KIND_KERNEL] = kernel_operations,
	[KIND_MARKER_RANGE] = marker_operations,
};

/* One process being written. */
struct results {
	struct amd_view *view;
	const struct model_process *process;
	struct json *json;
	struct amd_stats stats;
	struct agents agents;
	uint32_t *
		operations; /* of each function of the process: its place among those of its kind */
	enum amd_domain domain; /* of the present pass */
};

static uint32_t count_fixed(enum amd_kind kind)
{
	uint32_t count = 0;

	while (fixed_operations[kind] && fixed_operations[kind][count])
		count++;
	return count;
}

static uint32_t operation_of(const struct results *self, const struct amd_event *event)
{
	const char *const *fixed = fixed_operations[event->kind];

	for (uint32_t i = 0; fixed && fixed[i]; i++)
		if (strcmp(fixed[i], event->operation) == 0)
			return i;
	return self->operations[event->call->function - self->process->functions];
}

static int number_operations(struct results *self)
{
	uint32_t counts[AMD_KINDS];

	self->operations = calloc(MAX(self->process->function_count, 1u), sizeof(uint32_t));
	if (!self->operations)
		return -ENOMEM;
	for (unsigned kind = 0; kind < AMD_KINDS; kind++)
		counts[kind] = count_fixed(kind);
	for (uint32_t i = 0; i < self->process->function_count; i++)
		self->operations[i] = counts[amd_kind_of(&self->process->functions[i])]++;
	return 0;
}

static void write_handle(struct json *json, const char *key, uint64_t handle)
{
	json_object(json, key);
	json_number(json, "handle", handle);
	json_object_end(json);
}

static void write_node(struct json *json, const struct model *model)
{
	uint64_t hash = table_hash(model->host, strlen(model->host)) & INT64_MAX;

	json_object(json, "node");
	json_number(json, "id", (uint32_t)hash);
	json_number(json, "hash", hash);
	json_text(json, "machine_id", model->host);
	json_text(json, "system_name", "Linux");
	json_text(json, "hostname", model->host);
	json_text(json, "release", model->kernel);
	json_text(json, "version", "");
	json_text(json, "hardware_name", model->machine);
	json_text(json, "domain_name", "");
	json_object_end(json);
}

static void write_command(struct json *json, const char *command)
{
	struct text rest = text_of(command), word;
	char text[512];

	json_list(json, "command");
	while (text_take_word(&rest, &word)) {
		text_copy(word, text, sizeof(text));
		json_text(json, NULL, text);
	}
	json_list_end(json);
}

static void write_metadata(const struct results *self)
{
	const struct model *model = self->view->model;
	struct json *json = self->json;

	json_object(json, "metadata");
	write_node(json, model);
	json_signed(json, "pid", self->process->pid);
	json_number(json, "init_time", self->process->start_ns);
	json_number(json, "fini_time", model->last.boot_ns);
	write_command(json, self->process->command);
	json_object(json, "config");
	json_text(json, "limpet", model->limpet_version);
	json_text(json, "options", model->options);
	json_object_end(json);
	json_object_end(json);
}

static void write_agents(const struct results *self)
{
	const struct agent *agents = self->agents.items;
	struct json *json = self->json;

	json_list(json, "agents");
	for (size_t i = 0; agents && i < self->agents.count; i++) {
		const struct agent *agent = &agents[i];

		json_object(json, NULL);
		write_handle(json, "id", agent->number);
		json_number(json, "type", agent->is_cpu ? 1 : 2);
		json_number(json, "node_id", agent->number);
		json_number(json, "logical_node_id", agent->number);
		json_number(json, "logical_node_type_id", agent->type_index);
		json_text(json, "name", agent->name);
		json_text(json, "vendor_name", agent->vendor);
		json_text(json, "product_name", agent->product);
		json_text(json, "model_name", "");
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_operations(const struct results *self, enum amd_kind kind)
{
	struct json *json = self->json;

	json_object(json, NULL);
	json_text(json, "kind", amd_kind_name(kind));
	json_list(json, "operations");
	for (uint32_t i = 0; i < count_fixed(kind); i++)
		json_text(json, NULL, fixed_operations[kind][i]);
	for (uint32_t i = 0; i < self->process->function_count; i++)
		if (amd_kind_of(&self->process->functions[i]) == kind)
			json_text(json, NULL, self->process->functions[i].name);
	json_list_end(json);
	json_object_end(json);
}

static int write_entry(struct json *json, uint64_t key, const char *value)
{
	json_object(json, NULL);
	json_number(json, "key", key);
	json_text(json, "value", value);
	json_object_end(json);
	return export_state(json->out);
}

/* What renamed kernels are called. */
static int write_region(const struct amd_event *event, void *context)
{
	return event->region[0] ? write_entry(context, event->correlation, event->region) : 0;
}

static int write_message(const struct amd_event *event, void *context)
{
	if (event->domain != AMD_MARKER || event->call->kind == CALL_PLAIN)
		return 0;
	return write_entry(context, event->correlation, event->name);
}

static void write_empty_list(struct json *json, const char *key)
{
	json_list(json, key);
	json_list_end(json);
}

static int write_strings(struct results *self)
{
	struct json *json = self->json;
	int r = 0;

	json_object(json, "strings");
	write_empty_list(json, "callback_records");
	json_list(json, "buffer_records");
	for (unsigned kind = 0; kind < AMD_KINDS; kind++)
		write_operations(self, kind);
	json_list_end(json);
	json_list(json, "marker_api");
	if (self->stats.domains[AMD_MARKER].calls)
		r = amd_each_event(self->view, write_message, json);
	json_list_end(json);
	json_object(json, "correlation_id");
	json_list(json, "external");
	if (!r && self->view->is_renamed)
		r = amd_each_event(self->view, write_region, json);
	json_list_end(json);
	json_object_end(json);
	json_object(json, "counters");
	write_empty_list(json, "dimension_ids");
	json_object_end(json);
	write_empty_list(json, "pc_sample_instructions");
	write_empty_list(json, "pc_sample_comments");
	write_empty_list(json, "att_filenames");
	write_empty_list(json, "code_object_snapshot_filenames");
	json_object_end(json);
	return r;
}

static void write_symbol(const struct results *self, const struct name_entry *named)
{
	const char *readable = named->title ? named->title : named->text;
	char room[KERNEL_NAME_MAX], base[KERNEL_NAME_MAX];
	struct json *json = self->json;

	demangled_base(readable, base, sizeof(base));
	json_object(json, NULL);
	json_number(json, "kernel_id", named->id);
	json_number(json, "code_object_id", 0);
	json_text(json, "kernel_name", named->text);
	json_text(json, "formatted_kernel_name",
		  amd_kernel_name(self->view, self->process, named->id, room));
	json_text(json, "demangled_kernel_name", readable);
	json_text(json, "truncated_kernel_name", base);
	json_object_end(json);
}

static void write_symbols(const struct results *self)
{
	const struct names *names = &self->process->names;
	struct json *json = self->json;

	write_empty_list(json, "code_objects");
	json_list(json, "kernel_symbols");
	for (size_t i = 0; i < names->room; i++)
		if (names->items[i].text && names->items[i].space == NAME_KERNEL)
			write_symbol(self, &names->items[i]);
	json_list_end(json);
	write_empty_list(json, "host_functions");
}

/* Numbers without a fraction are whole: nanoseconds squared have no use for more. */
static void write_statistics(struct json *json, const struct statistics *statistics)
{
	double count = (double)statistics->calls, mean = statistics->mean_ns;
	double variance = statistics->calls > 1 ? statistics->squares / (count - 1) : 0;

	json_number(json, "count", statistics->calls);
	json_number(json, "sum", statistics->total_ns);
	json_number(json, "sqr", (uint64_t)MIN(statistics->squares + count * mean * mean, 1e19));
	json_number(json, "min", statistics->least_ns);
	json_number(json, "max", statistics->most_ns);
	json_fixed(json, "mean", (uint64_t)(mean * 1000 + 0.5), 3);
	json_fixed(json, "stddev",
		   (uint64_t)(statistics_sample_deviation_ns(statistics) * 1000 + 0.5), 3);
	json_number(json, "variance", (uint64_t)MIN(variance, 1e19));
}

static void write_summary(const struct results *self, enum amd_domain domain)
{
	const struct amd_stats *stats = &self->stats;
	struct json *json = self->json;

	json_object(json, NULL);
	json_text(json, "domain", amd_domains[domain].column);
	json_object(json, "stats");
	write_statistics(json, &stats->domains[domain]);
	json_list(json, "operations");
	for (size_t i = stats->first[domain]; i < stats->first[domain + 1]; i++) {
		json_object(json, NULL);
		json_text(json, "key", stats->rows[i].name);
		json_object(json, "value");
		write_statistics(json, &stats->rows[i].statistics);
		json_object_end(json);
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
	json_object_end(json);
}

static void write_summaries(const struct results *self)
{
	json_list(self->json, "summary");
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		if (self->stats.domains[domain].calls)
			write_summary(self, domain);
	json_list_end(self->json);
	json_object(self->json, "callback_records");
	write_empty_list(self->json, "counter_collection");
	json_object_end(self->json);
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

static void write_kernel(struct json *json, const struct amd_event *event)
{
	json_object(json, "dispatch_info");
	write_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	write_handle(json, "queue_id", event_value(event, VALUE_QUEUE));
	json_number(json, "kernel_id", event_value(event, VALUE_NAME));
	json_number(json, "dispatch_id", event_value(event, VALUE_DISPATCH));
	json_number(json, "private_segment_size", event_value(event, VALUE_SCRATCH_BYTES));
	json_number(json, "group_segment_size", event_value(event, VALUE_LOCAL_BYTES));
	write_sizes(json, "workgroup_size", event, VALUE_GROUP_X);
	write_sizes(json, "grid_size", event, VALUE_GRID_X);
	json_object_end(json);
	write_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_copy(struct json *json, const struct amd_event *event)
{
	write_handle(json, "dst_agent_id", event_value(event, VALUE_DEVICE));
	write_handle(json, "src_agent_id", event_value(event, VALUE_FROM_DEVICE));
	json_number(json, "bytes", event_value(event, VALUE_SIZE));
	json_number(json, "dst_address", event_value(event, VALUE_ADDRESS));
	json_number(json, "src_address", event_value(event, VALUE_OLD_ADDRESS));
	write_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_memory(struct json *json, const struct amd_event *event)
{
	write_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	json_number(json, "address", event_value(event, VALUE_ADDRESS));
	json_number(json, "allocation_size", event_value(event, VALUE_SIZE));
	write_handle(json, "stream_id", event_value(event, VALUE_STREAM));
}

static void write_scratch(struct json *json, const struct amd_event *event)
{
	write_handle(json, "agent_id", event_value(event, VALUE_DEVICE));
	write_handle(json, "queue_id", event_value(event, VALUE_QUEUE));
	json_number(json, "flags", event_value(event, VALUE_FLAGS));
	json_number(json, "allocation_size", event_value(event, VALUE_SIZE));
}

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
	json_number(json, "kind", event->kind);
	json_number(json, "operation", operation_of(self, event));
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

/* AMD's own lists are there also when they are empty. */
static int write_records(struct results *self)
{
	static const char *const others[] = { "rocdecode_api", "rocjpeg_api", "pc_sample_host_trap",
					      "pc_sample_stochastic" };
	int r = 0;

	json_object(self->json, "buffer_records");
	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++) {
		bool is_filled = self->stats.domains[domain].calls != 0;

		if (!is_filled && domain >= AMD_OPENCL)
			continue;
		self->domain = domain;
		json_list(self->json, amd_domains[domain].list);
		if (is_filled)
			r = amd_each_event(self->view, write_record, self);
		json_list_end(self->json);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		write_empty_list(self->json, others[i]);
	json_object_end(self->json);
	return r;
}

/* Agents that no name was given to are found in the records. */
static int find_agent(const struct amd_event *event, void *context)
{
	static const enum value_kind kinds[] = { VALUE_DEVICE, VALUE_FROM_DEVICE };
	struct agents *agents = context;
	uint64_t number;
	bool is_new;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (call_value(event->call, kinds[i], &number) &&
		    !agents_find(agents, number, &is_new))
			return -ENOMEM;
	return 0;
}

static int look(struct results *self)
{
	int r = number_operations(self);

	if (!r)
		r = amd_stats_init(&self->stats, self->view);
	if (!r)
		r = agents_init(&self->agents, self->process);
	return r ? r : amd_each_event(self->view, find_agent, &self->agents);
}

static int write_process(struct results *self)
{
	int r;

	json_object(self->json, NULL);
	write_metadata(self);
	write_agents(self);
	write_empty_list(self->json, "counters");
	r = write_strings(self);
	write_symbols(self);
	write_summaries(self);
	if (!r)
		r = write_records(self);
	json_object_end(self->json);
	return r;
}

int amd_json_write(struct amd_view *views, size_t count, FILE *out)
{
	struct json json = { .out = out };
	int r = 0;

	json_object(&json, NULL);
	json_list(&json, "rocprofiler-sdk-tool");
	for (size_t i = 0; !r && i < count; i++) {
		struct results results = { .view = &views[i],
					   .process = views[i].process,
					   .json = &json };

		r = look(&results);
		if (!r)
			r = write_process(&results);
		free(results.operations);
		amd_stats_done(&results.stats);
		agents_done(&results.agents);
	}
	json_list_end(&json);
	json_object_end(&json);
	return r;
}

static int write_views(struct model *model, struct amd_view *views, FILE *out)
{
	struct err err = { 0 };
	int r = 0;

	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		struct amd_view_options options = { .process = model->processes[i] };

		r = amd_view_init(&views[i], model, &options, &err);
	}
	if (!r)
		r = amd_json_write(views, model->process_count, out);
	for (uint32_t i = 0; i < model->process_count; i++)
		amd_view_done(&views[i]);
	return r;
}

static int write_all(struct model *model, FILE *out)
{
	struct amd_view *views = calloc(MAX(model->process_count, 1u), sizeof(*views));
	int r = views ? write_views(model, views, out) : -ENOMEM;

	free(views);
	return r;
}

static const char *const extensions[] = { "_results.json", NULL };

const struct exporter exporter_rocprof_json = {
	.name = "rocprof-json",
	.summary = "AMD's results.json",
	.extensions = extensions,
	.write = write_all,
};

/*
 * rocprof-json: the structure of rocprofv3's results.json.  Records name their function by kind and
 * operation, which are indexes in the lists of "strings"; both are written for the recording's
 * functions, so AMD's readers find the names.
 *
 * Lists are by domain, a model is by time: each list is a pass of its own over the model, and
 * memory does not grow.
 */
#include "host/export/amd/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/text/text.h"
#include "host/export/amd/json/json_parts.h"
#include "host/export/exporter.h"
#include "host/symbols/demangle/demangle.h"
#include "shared/base/hash.h"

#define SYMBOL_BYTES 80u /* of AMD's structure for them */

void json_handle(struct json *json, const char *key, uint64_t handle)
{
	json_object(json, key);
	json_number(json, "handle", handle);
	json_object_end(json);
}

void json_empty_list(struct json *json, const char *key)
{
	json_list(json, key);
	json_list_end(json);
}

static void write_node(struct json *json, const struct model *model)
{
	uint64_t hash = hash_bytes(model->host, strlen(model->host)) & INT64_MAX;

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
	json_bool(json, "kernel_rename", self->view->is_renamed);
	json_bool(json, "demangle_kernels", self->view->form != KERNEL_MANGLED);
	json_bool(json, "truncate_kernels", self->view->form == KERNEL_TRUNCATED);
	json_bool(json, "selected_regions", self->view->region_options.is_selected);
	json_object_end(json);
	json_object_end(json);
}

static void write_agents(const struct results *self)
{
	const struct agents *agents = &self->agents[self->process->number];

	json_list(self->json, "agents");
	for (size_t i = 0; i < agents->count; i++)
		agent_write(self->json, &agents->items[i]);
	json_list_end(self->json);
}

static int write_entry(struct json *json, uint64_t key, const char *value)
{
	json_object(json, NULL);
	json_number(json, "key", key);
	json_text(json, "value", value);
	json_object_end(json);
	return export_state(json->out);
}

/* The names of renamed kernels. */
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

static int write_strings(struct results *self)
{
	struct json *json = self->json;
	int r = 0;

	json_object(json, "strings");
	json_empty_list(json, "callback_records");
	json_list(json, "buffer_records");
	for (unsigned kind = 0; kind < amd_kind_count(); kind++)
		results_operations(self, kind);
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
	json_empty_list(json, "dimension_ids");
	json_object_end(json);
	json_empty_list(json, "pc_sample_instructions");
	json_empty_list(json, "pc_sample_comments");
	json_empty_list(json, "att_filenames");
	json_empty_list(json, "code_object_snapshot_filenames");
	json_object_end(json);
	return r;
}

static void write_symbol(const struct results *self, uint64_t number, uint64_t id)
{
	const struct names *names = &self->process->names;
	const char *readable = names_title(names, NAME_KERNEL, id);
	char room[KERNEL_NAME_MAX], base[KERNEL_NAME_MAX];
	struct json *json = self->json;

	demangled_base(readable, base, sizeof(base));
	json_object(json, NULL);
	json_number(json, "size", SYMBOL_BYTES);
	json_number(json, "kernel_id", number);
	json_number(json, "code_object_id", 0);
	json_text(json, "kernel_name", names_find(names, NAME_KERNEL, id));
	json_text(json, "formatted_kernel_name",
		  amd_kernel_name(self->view, self->process, id, room));
	json_text(json, "demangled_kernel_name", readable);
	json_text(json, "truncated_kernel_name", base);
	json_object_end(json);
}

/* Number 0 is no kernel, and has its slot in the list: readers index it by number. */
static void write_no_symbol(struct json *json)
{
	static const char *const names[] = { "kernel_name", "formatted_kernel_name",
					     "demangled_kernel_name", "truncated_kernel_name" };

	json_object(json, NULL);
	json_number(json, "size", 0);
	json_number(json, "kernel_id", 0);
	json_number(json, "code_object_id", 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_text(json, names[i], "");
	json_object_end(json);
}

static void write_symbols(const struct results *self)
{
	const struct kernel_list *kernels = &self->view->kernels[self->process->number];
	struct json *json = self->json;

	json_empty_list(json, "code_objects");
	json_list(json, "kernel_symbols");
	write_no_symbol(json);
	for (size_t i = 0; i < kernels->count; i++)
		write_symbol(self, i + 1, kernels->ids[i]);
	json_list_end(json);
	json_empty_list(json, "host_functions");
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
	json_fixed(json, "mean", (uint64_t)MIN(mean * 1000 + 0.5, 1e19), 3);
	json_fixed(json, "stddev",
		   (uint64_t)MIN(statistics_sample_deviation_ns(statistics) * 1000 + 0.5, 1e19), 3);
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

/* Agents without names are found in the records. */
static int find_agent(const struct amd_event *event, void *context)
{
	static const enum value_kind kinds[] = { VALUE_DEVICE, VALUE_FROM_DEVICE };
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (call_value(event->call, kinds[i], &number) &&
		    !agents_find(context, event->call->process, number))
			return -ENOMEM;
	return 0;
}

static int results_init(struct results *self)
{
	int r = results_number(self);

	if (!r)
		r = amd_stats_init(&self->stats, self->view);
	self->agents = agents_new(self->view->model, self->process);
	if (!r && !self->agents)
		r = -ENOMEM;
	return r ? r : amd_each_event(self->view, find_agent, self->agents);
}

static int write_process(struct results *self)
{
	int r;

	json_object(self->json, NULL);
	write_metadata(self);
	write_agents(self);
	results_counters(self);
	r = write_strings(self);
	write_symbols(self);
	json_list(self->json, "summary");
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		if (self->stats.domains[domain].calls)
			write_summary(self, domain);
	json_list_end(self->json);
	if (!r)
		r = results_counted(self);
	if (!r)
		r = results_records(self);
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

		r = results_init(&results);
		if (!r)
			r = write_process(&results);
		free(results.operations);
		amd_stats_done(&results.stats);
		agents_free(results.agents, views[i].model);
	}
	json_list_end(&json);
	json_object_end(&json);
	return r;
}

static int write_all(struct model *model, FILE *out)
{
	struct amd_view *views = calloc(MAX(model->process_count, 1u), sizeof(*views));
	struct err err = { 0 };
	int r = views ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		struct amd_view_options options = { .process = model->processes[i] };

		r = amd_view_init(&views[i], model, &options, &err);
	}
	if (!r)
		r = amd_json_write(views, model->process_count, out);
	for (uint32_t i = 0; views && i < model->process_count; i++)
		amd_view_done(&views[i]);
	free(views);
	return r;
}

const struct exporter_format format_rocprof_json = {
	.looks_like = "{\"rocprofiler-sdk-tool\":[[]{\"metadata\":{\"node\":*",
	.write = write_all,
};

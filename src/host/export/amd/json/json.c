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

#include "host/export/amd/json/json_parts.h"
#include "host/export/exporter.h"

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

static void write_summaries(const struct results *self)
{
	json_list(self->json, "summary");
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++)
		if (self->stats.domains[domain].calls)
			write_summary(self, domain);
	json_list_end(self->json);
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

static int amd_json_look(struct results *self)
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
	results_metadata(self);
	results_agents(self);
	results_counters(self);
	r = results_strings(self);
	results_symbols(self);
	write_summaries(self);
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

		r = amd_json_look(&results);
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

const struct exporter_format format_rocprof_json = {
	.looks_like = "{\"rocprofiler-sdk-tool\":[[]{\"metadata\":{\"node\":*",
	.write = write_all,
};

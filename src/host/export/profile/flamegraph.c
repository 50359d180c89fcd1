/*
 * flamegraph: one HTML file that draws the samples and lets one search, zoom, invert and choose
 * threads.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/core/text/plural.h"
#include "host/export/exporter.h"
#include "host/export/profile/flame_page.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/call_tree.h"

struct flamegraph {
	struct model *model;
	struct profile profile;
	struct call_tree tree;
	uint32_t *of_entry; /* the node of each entry of the profile */
};

/* Five numbers each: thread, innermost node, kind, samples, nanoseconds. */
static void write_entries(struct json *json, const struct flamegraph *self)
{
	json_list(json, "entries");
	for (size_t i = 0; i < self->profile.count; i++) {
		const struct profile_entry *entry = &self->profile.entries[i];

		json_number(json, NULL, entry->thread);
		json_signed(json, NULL, (int64_t)self->of_entry[i] - 1);
		json_number(json, NULL, entry->kind);
		json_number(json, NULL, entry->count);
		json_number(json, NULL, entry->weight_ns);
	}
	json_list_end(json);
}

static void write_names(struct json *json, const struct flamegraph *self)
{
	const struct samples *samples = self->model->samples;

	json_list(json, "functions");
	for (size_t i = 0; i < samples->function_count; i++)
		json_text(json, NULL, samples->functions[i].name);
	json_list_end(json);
	json_list(json, "function_modules");
	for (size_t i = 0; i < samples->function_count; i++)
		json_number(json, NULL, samples->functions[i].code);
	json_list_end(json);
	json_list(json, "modules");
	for (size_t i = 0; i < samples->code_count; i++)
		json_text(json, NULL, samples->codes[i].name);
	json_list_end(json);
}

static void write_languages(struct json *json, const struct samples *samples)
{
	unsigned present = 0;

	json_list(json, "module_languages");
	for (size_t i = 0; i < samples->code_count; i++) {
		enum frame_language language =
			frame_language(samples->codes[i].kind, samples->codes[i].path);

		present |= 1u << language;
		json_number(json, NULL, language);
	}
	json_list_end(json);
	frame_languages_write(json, "languages", present);
}

static void write_threads(struct json *json, const struct flamegraph *self)
{
	char name[128];

	json_list(json, "threads");
	for (uint32_t i = 0; i < self->model->thread_count; i++) {
		json_text(json, NULL,
			  thread_title(self->model, self->model->threads[i], name, sizeof(name)));
	}
	json_list_end(json);
}

/* Where they are the first level. */
static void write_processes(struct json *json, const struct flamegraph *self)
{
	char name[128];

	json_list(json, "processes");
	for (uint32_t i = 0; i < self->model->process_count; i++)
		json_text(json, NULL, process_title(self->model->processes[i], name, sizeof(name)));
	json_list_end(json);
}

/* The facts that must accompany every copy of the picture. */
static void write_words(struct json *json, const struct flamegraph *self)
{
	const struct samples *samples = self->model->samples;
	char words[512];

	json_text(json, "title", recording_title(self->model, words, sizeof(words)));
	if (profile_kinds_are_calls(samples->view)) {
		call_view_describe(self->model, words, sizeof(words));
		json_text(json, "about", words);
		json_text(json, "warning", "");
		return;
	}
	snprintf(words, sizeof(words),
		 "%" PRIu64 " sample%s in %.2f s at %u Hz, by %s; on %s, Linux %s", samples->count,
		 plural(samples->count), (double)(samples->last_ns - samples->first_ns) / 1e9,
		 samples->hz, samples->sampler, self->model->host, self->model->kernel);
	json_text(json, "about", words);
	words[0] = '\0';
	if (samples->lost || samples->ends[STACK_COMPLETE] < samples->count)
		snprintf(words, sizeof(words),
			 "%" PRIu64 " sample%s %s lost; %.2f %% of the stacks are complete",
			 samples->lost, plural(samples->lost), was_were(samples->lost),
			 (double)samples_complete(samples) / 100);
	json_text(json, "warning", words);
}

static void write_data(struct json *json, const void *context)
{
	const struct flamegraph *self = context;
	const struct samples *samples = self->model->samples;
	bool has_waits = samples->kinds[SAMPLE_BLOCKED] || samples->kinds[SAMPLE_RUNNABLE];

	json_object(json, NULL);
	write_words(json, self);
	flame_page_views(json, profile_kinds(samples), has_waits);
	write_threads(json, self);
	if (samples_are_system_wide(samples))
		write_processes(json, self);
	write_names(json, self);
	write_languages(json, self->model->samples);
	flame_page_nodes(json, &self->tree);
	write_entries(json, self);
	json_object_end(json);
}

static int flamegraph_write(struct model *model, FILE *out)
{
	const struct tree_source source = { .model = model,
					    .options.is_by_process =
						    samples_are_system_wide(model->samples) };
	struct flamegraph self = { .model = model };
	int r = sample_profile_gather(&self.profile, model,
				      &(struct profile_filter){ .is_by_thread = true });

	if (!r)
		r = call_tree_init(&self.tree, /* sides */ 1);
	if (!r && !(self.of_entry = calloc(self.profile.count + 1, sizeof(*self.of_entry))))
		r = -ENOMEM;
	if (!r)
		r = call_tree_add(&self.tree, &source, &self.profile, self.of_entry);
	if (!r)
		r = flame_page_write(out, write_data, &self);
	sample_profile_done(&self.profile);
	call_tree_done(&self.tree);
	free(self.of_entry);
	return r;
}

const struct exporter_format format_flamegraph = {
	.looks_like = "<!DOCTYPE html>*<meta name=\"generator\" content=\"limpet\">*",
	.write = flamegraph_write,
};

/*
 * flamegraph: one HTML file that draws the samples and lets one search, zoom, invert and choose
 * threads.  The page (flamegraph.html) is the same for all; what was sampled is put into it as
 * JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/json.h"
#include "host/export/exporter.h"
#include "host/model/call_tree.h"

extern const char blob_flamegraph[], blob_flamegraph_end[];

#define PLACE "@DATA@"

/* As in the page. */
enum { VALUE_INCOMPLETE = -1 };

struct flamegraph {
	struct json json;
	struct model *model;
	struct profile profile;
	struct call_tree tree;
};

/* Nodes but the root, from 0: those outside of all others have -1. */
static void write_nodes(struct flamegraph *self)
{
	struct json *json = &self->json;

	json_list(json, "parents");
	for (size_t i = 1; i < self->tree.count; i++)
		json_signed(json, NULL, (int64_t)self->tree.nodes[i].parent - 1);
	json_list_end(json);
	json_list(json, "values");
	for (size_t i = 1; i < self->tree.count; i++)
		json_signed(json, NULL,
			    self->tree.nodes[i].kind == TREE_FUNCTION
				    ? (int64_t)self->tree.nodes[i].value
				    : VALUE_INCOMPLETE);
	json_list_end(json);
}

/* Five numbers each: thread, innermost node, kind, samples, nanoseconds. */
static void write_entries(struct flamegraph *self)
{
	struct json *json = &self->json;

	json_list(json, "entries");
	for (size_t i = 0; i < self->profile.count; i++) {
		const struct profile_entry *entry = &self->profile.entries[i];

		json_number(json, NULL, entry->thread);
		json_signed(json, NULL, (int64_t)self->tree.of_entry[i] - 1);
		json_number(json, NULL, entry->kind);
		json_number(json, NULL, entry->count);
		json_number(json, NULL, entry->weight_ns);
	}
	json_list_end(json);
}

static void write_names(struct flamegraph *self)
{
	const struct samples *samples = self->model->samples;
	struct json *json = &self->json;

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

static void write_threads(struct flamegraph *self)
{
	struct json *json = &self->json;
	char name[128];

	json_list(json, "threads");
	for (uint32_t i = 0; i < self->model->thread_count; i++) {
		json_text(json, NULL,
			  thread_title(self->model, self->model->threads[i], name, sizeof(name)));
	}
	json_list_end(json);
}

static void write_views(struct flamegraph *self)
{
	static const unsigned views[] = { KINDS_ON_CPU, KINDS_OFF_CPU, KIND_BIT(SAMPLE_RUNNABLE),
					  KINDS_ALL };
	const struct samples *samples = self->model->samples;
	bool is_off_cpu = samples->kinds[SAMPLE_BLOCKED] || samples->kinds[SAMPLE_RUNNABLE];

	json_text(&self->json, "view", profile_kinds_name(profile_kinds(samples)));
	json_list(&self->json, "views");
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (is_off_cpu || views[i] == KINDS_ON_CPU)
			json_text(&self->json, NULL, profile_kinds_name(views[i]));
	json_list_end(&self->json);
}

/* What must be said wherever the picture goes. */
static void write_words(struct flamegraph *self)
{
	const struct samples *samples = self->model->samples;
	const struct model_process *process =
		self->model->process_count ? self->model->processes[0] : NULL;
	char words[512] = "flame graph";

	if (process)
		snprintf(words, sizeof(words), "%s (%d)", process->name, process->pid);
	json_text(&self->json, "title", words);
	snprintf(words, sizeof(words),
		 "%" PRIu64 " samples in %.2f s at %u Hz, by %s; on %s, Linux %s", samples->count,
		 (double)(samples->last_ns - samples->first_ns) / 1e9, samples->hz,
		 samples->sampler, self->model->host, self->model->kernel);
	json_text(&self->json, "about", words);
	words[0] = '\0';
	if (samples->lost || samples->ends[STACK_COMPLETE] < samples->count)
		snprintf(words, sizeof(words),
			 "%" PRIu64 " samples were lost; %.2f %% of the stacks are complete",
			 samples->lost, (double)samples_complete(samples) / 100);
	json_text(&self->json, "warning", words);
}

static void write_data(struct flamegraph *self)
{
	json_object(&self->json, NULL);
	write_words(self);
	write_views(self);
	write_threads(self);
	write_names(self);
	write_nodes(self);
	write_entries(self);
	json_object_end(&self->json);
}

/* In a page, text ends at "</script": where it could, it is written otherwise. */
static void write_escaped(FILE *out, const char *text, size_t size)
{
	for (const char *end = text + size, *at = text; at < end;) {
		const char *next = memchr(at, '<', (size_t)(end - at));
		size_t plain = (size_t)((next ? next : end) - at);

		fwrite(at, 1, plain, out);
		if (next)
			fputs("\\u003c", out);
		at += plain + (next != NULL);
	}
}

static int write_page(struct flamegraph *self, FILE *out)
{
	const char *place = memmem(blob_flamegraph, (size_t)(blob_flamegraph_end - blob_flamegraph),
				   PLACE, strlen(PLACE));
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory || !place)
		return -ENOMEM;
	self->json.out = memory;
	write_data(self);
	if (fclose(memory))
		return -ENOMEM;
	fwrite(blob_flamegraph, 1, (size_t)(place - blob_flamegraph), out);
	write_escaped(out, text, size);
	place += strlen(PLACE);
	fwrite(place, 1, (size_t)(blob_flamegraph_end - place), out);
	return export_state(out);
}

static int flamegraph_write(struct model *model, FILE *out)
{
	struct flamegraph self = { .model = model };
	int r = sample_profile_gather(&self.profile, model,
				      &(struct profile_filter){ .is_by_thread = true });

	if (!r)
		r = call_tree_build(&self.tree, model, &self.profile,
				    &(struct call_tree_options){ 0 });
	if (!r)
		r = write_page(&self, out);
	sample_profile_done(&self.profile);
	call_tree_done(&self.tree);
	return r;
}

static const char *const extensions[] = { ".html", ".htm", NULL };

const struct exporter exporter_flamegraph = {
	.name = "flamegraph",
	.summary = "a page with a flame graph",
	.extensions = extensions,
	.write = flamegraph_write,
	.is_of_samples = true,
};

/*
 * Flame graphs as one HTML file (flamegraph.html), into which the data are inserted as JSON: it
 * draws the samples and lets one search, zoom, invert and choose threads.  Of one recording, or a
 * red and blue one of two.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/call_tree.h"

#define MARK "@DATA@"

extern const char blob_flamegraph[], blob_flamegraph_end[];

/* As in the page: the value of a node that stands for lost callers, and that of the first process.
 */
enum { VALUE_INCOMPLETE = -1, VALUE_PROCESS = -3 };

static int64_t value_of(const struct tree_node *node)
{
	if (node->kind == TREE_FUNCTION)
		return node->value;
	return node->kind == TREE_PROCESS ? VALUE_PROCESS - (int64_t)node->value : VALUE_INCOMPLETE;
}

/* Members of the data that all pages have: nodes without the root, from 0, where the outermost have
 * the parent -1; and the choice of samples, with the initial one. */
static void flame_page_nodes(struct json *json, const struct call_tree *tree)
{
	json_list(json, "parents");
	for (size_t i = 1; i < tree->count; i++)
		json_signed(json, NULL, (int64_t)tree->nodes[i].parent - 1);
	json_list_end(json);
	json_list(json, "values");
	for (size_t i = 1; i < tree->count; i++)
		json_signed(json, NULL, value_of(&tree->nodes[i]));
	json_list_end(json);
}

static void flame_page_views(struct json *json, unsigned chosen_kinds, bool has_waits)
{
	static const unsigned views[] = { KINDS_ON_CPU,
					  KINDS_OFF_CPU,
					  KIND_BIT(SAMPLE_RUNNABLE),
					  KINDS_ALL,
					  KIND_BIT(SAMPLE_ALLOCATED),
					  KIND_BIT(SAMPLE_LIVE),
					  KIND_BIT(SAMPLE_LOCK),
					  KIND_BIT(SAMPLE_IO) };
	bool is_memory = profile_kinds_are_bytes(chosen_kinds);
	bool is_calls = profile_kinds_are_calls(chosen_kinds);

	json_text(json, "view", profile_kinds_name(chosen_kinds));
	json_list(json, "views");
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (is_calls ? views[i] == chosen_kinds ||
				       (is_memory && profile_kinds_are_bytes(views[i]))
			     : !profile_kinds_are_calls(views[i]) &&
				       (has_waits || views[i] == KINDS_ON_CPU))
			json_text(json, NULL, profile_kinds_name(views[i]));
	json_list_end(json);
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

/* data: writes one object.  0, -ENOMEM, or why it could not be written. */
static int flame_page_write(FILE *out, void (*data)(struct json *json, const void *context),
			    const void *context)
{
	const char *mark = memmem(blob_flamegraph, (size_t)(blob_flamegraph_end - blob_flamegraph),
				  MARK, strlen(MARK));
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out || !mark)
		return -ENOMEM;
	data(&json, context);
	if (fclose(json.out))
		return -ENOMEM;
	fwrite(blob_flamegraph, 1, (size_t)(mark - blob_flamegraph), out);
	write_escaped(out, text, size);
	mark += strlen(MARK);
	fwrite(mark, 1, (size_t)(blob_flamegraph_end - mark), out);
	return export_state(out);
}

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

struct diff_page {
	const struct comparison *comparison;
	struct profile profiles[SIDES]; /* of all kinds: the diff_page chooses */
	struct call_tree tree;
	uint32_t *of_entry[SIDES]; /* the node of each entry of the profiles */
};

/* Weights may differ widely; a number too large for JSON becomes the largest one. */
static uint64_t square_us(double square_ns)
{
	return square_ns / 1e6 < 9e15 ? (uint64_t)(square_ns / 1e6) : (uint64_t)9e15;
}

/* Seven numbers each: thread, innermost node, kind, samples, nanoseconds; side, and the squares of
 * the weights in us^2. */
static void write_diff_entries(struct json *json, const struct diff_page *self)
{
	json_list(json, "entries");
	for (unsigned side = 0; side < SIDES; side++)
		for (size_t i = 0; i < self->profiles[side].count; i++) {
			const struct profile_entry *entry = &self->profiles[side].entries[i];
			const uint32_t *threads = self->comparison->sides[side].threads;

			json_number(json, NULL, threads[entry->thread]);
			json_signed(json, NULL, (int64_t)self->of_entry[side][i] - 1);
			json_number(json, NULL, entry->kind);
			json_number(json, NULL, entry->count);
			json_number(json, NULL, entry->weight_ns);
			json_number(json, NULL, side);
			json_number(json, NULL, square_us(entry->squares));
		}
	json_list_end(json);
}

static void write_diff_names(struct json *json, const struct diff_page *self)
{
	const struct comparison *comparison = self->comparison;

	json_list(json, "functions");
	for (size_t i = 0; i < comparison->function_count; i++)
		json_text(json, NULL, comparison->functions[i].name);
	json_list_end(json);
	json_list(json, "function_modules");
	for (size_t i = 0; i < comparison->function_count; i++)
		json_number(json, NULL, i);
	json_list_end(json);
	json_list(json, "modules");
	for (size_t i = 0; i < comparison->function_count; i++)
		json_text(json, NULL, comparison->functions[i].module);
	json_list_end(json);
	json_list(json, "threads");
	for (size_t i = 0; i < comparison->thread_count; i++)
		json_text(json, NULL, comparison->threads[i].name);
	json_list_end(json);
}

static void write_diff_words(struct json *json, const struct diff_page *self)
{
	char warnings[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE], words[1100];
	size_t count = comparison_warnings(self->comparison, warnings);
	char joined[COMPARISON_WARNINGS_MAX * COMPARISON_WARNING_SIZE] = "";

	json_text(json, "title", "what changed from A to B");
	json_list(json, "sides");
	for (unsigned side = 0; side < SIDES; side++) {
		char title[512], numbers[512];

		comparison_title(self->comparison, side, title, sizeof(title));
		comparison_describe(self->comparison, side, numbers, sizeof(numbers));
		snprintf(words, sizeof(words), "%s: %s", title, numbers);
		json_text(json, NULL, words);
	}
	json_list_end(json);
	for (size_t i = 0, at = 0; i < count; i++)
		at += (size_t)snprintf(joined + at, sizeof(joined) - at, "%s%s", i ? "\n" : "",
				       warnings[i]);
	json_text(json, "warning", joined);
}

static bool has_waits(const struct comparison *comparison)
{
	bool has = false;

	for (unsigned side = 0; side < SIDES; side++) {
		const struct samples *samples = comparison->sides[side].model->samples;

		has |= samples->kinds[SAMPLE_BLOCKED] || samples->kinds[SAMPLE_RUNNABLE];
	}
	return has;
}

static void write_diff_data(struct json *json, const void *context)
{
	const struct diff_page *self = context;

	json_object(json, NULL);
	write_diff_words(json, self);
	flame_page_views(json, self->comparison->kinds, has_waits(self->comparison));
	write_diff_names(json, self);
	flame_page_nodes(json, &self->tree);
	write_diff_entries(json, self);
	json_object_end(json);
}

int diff_page_write(const struct comparison *comparison, FILE *out)
{
	struct diff_page self = { .comparison = comparison };
	const struct profile *const profiles[SIDES] = { &self.profiles[SIDE_A],
							&self.profiles[SIDE_B] };
	const struct profile_filter filter = { .is_by_thread = true };
	int r = 0;

	for (unsigned i = 0; !r && i < SIDES; i++)
		r = sample_profile_gather(&self.profiles[i], comparison->sides[i].model, &filter);
	if (!r)
		r = diff_tree_build(&self.tree, comparison, profiles, self.of_entry);
	if (!r)
		r = flame_page_write(out, write_diff_data, &self);
	for (unsigned i = 0; i < SIDES; i++) {
		sample_profile_done(&self.profiles[i]);
		free(self.of_entry[i]);
	}
	call_tree_done(&self.tree);
	return r;
}

/*
 * A red and blue flame graph as a page: flamegraph.html with samples of two sides.
 */
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/export/profile/diff.h"
#include "host/export/profile/flame_page.h"

struct page {
	const struct comparison *comparison;
	struct profile profiles[SIDES]; /* of all kinds: the page chooses */
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
static void write_entries(struct json *json, const struct page *self)
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

static void write_names(struct json *json, const struct page *self)
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

static void write_words(struct json *json, const struct page *self)
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

static void write_data(struct json *json, const void *context)
{
	const struct page *self = context;

	json_object(json, NULL);
	write_words(json, self);
	flame_page_views(json, self->comparison->kinds, has_waits(self->comparison));
	write_names(json, self);
	flame_page_nodes(json, &self->tree);
	write_entries(json, self);
	json_object_end(json);
}

int diff_page_write(const struct comparison *comparison, FILE *out)
{
	struct page self = { .comparison = comparison };
	const struct profile *const profiles[SIDES] = { &self.profiles[SIDE_A],
							&self.profiles[SIDE_B] };
	const struct profile_filter filter = { .is_by_thread = true };
	int r = 0;

	for (unsigned i = 0; !r && i < SIDES; i++)
		r = sample_profile_gather(&self.profiles[i], comparison->sides[i].model, &filter);
	if (!r)
		r = diff_tree_build(&self.tree, comparison, profiles, self.of_entry);
	if (!r)
		r = flame_page_write(out, write_data, &self);
	for (unsigned i = 0; i < SIDES; i++) {
		sample_profile_done(&self.profiles[i]);
		free(self.of_entry[i]);
	}
	call_tree_done(&self.tree);
	return r;
}

/*
 * `limpet diff --json`.
 */
#include <errno.h>

#include "host/cli/diff/diff_report.h"
#include "host/core/cleanup.h"

static void write_change(struct json *json, const char *key, const struct share_change *change)
{
	json_object(json, key);
	json_rounded(json, "a_percent", change->shares[SIDE_A], 4);
	json_rounded(json, "b_percent", change->shares[SIDE_B], 4);
	json_rounded(json, "points", change->points, 4);
	json_rounded(json, "error", change->error, 4);
	json_bool(json, "noise", change->is_noise);
	if (change->shares[SIDE_A] > 0 && change->shares[SIDE_B] > 0)
		json_rounded(json, "factor", change->shares[SIDE_B] / change->shares[SIDE_A], 4);
	json_object_end(json);
}

static void write_part(struct json *json, const char *key, const struct compared_part *part)
{
	json_object(json, key);
	json_number(json, "self_samples", part->self_count);
	json_number(json, "total_samples", part->total_count);
	json_number(json, "self_ns", part->self_ns);
	json_number(json, "total_ns", part->total_ns);
	json_object_end(json);
}

static void write_function(struct json *json, const struct comparison *comparison,
			   const struct diff_row *row)
{
	const struct compared_function *function = &comparison->functions[row->number];
	struct share_change self = diff_change(comparison, row->parts, /* is_by_total */ false);
	struct share_change total = diff_change(comparison, row->parts, /* is_by_total */ true);

	json_object(json, NULL);
	json_text(json, "event", "compared_function");
	json_text(json, "name", function->name);
	json_text(json, "module", function->module);
	json_bool(json, "named", function->is_named);
	json_text(json, "in", diff_presence(row->parts));
	write_change(json, "self", &self);
	write_change(json, "total", &total);
	write_part(json, "a", &row->parts[SIDE_A]);
	write_part(json, "b", &row->parts[SIDE_B]);
	json_object_end(json);
}

static void write_thread(struct json *json, const struct comparison *comparison,
			 const struct diff_row *row)
{
	const struct compared_thread *thread = &comparison->threads[row->number];

	json_object(json, NULL);
	json_text(json, "event", "compared_thread");
	json_text(json, "name", thread->name);
	json_text(json, "in", diff_presence(row->parts));
	write_change(json, "share", &row->change);
	json_number(json, "a_threads", thread->threads[SIDE_A]);
	json_number(json, "b_threads", thread->threads[SIDE_B]);
	json_number(json, "a_ns", row->parts[SIDE_A].total_ns);
	json_number(json, "b_ns", row->parts[SIDE_B].total_ns);
	json_object_end(json);
}

static int write_threads(struct json *json, const struct comparison *comparison)
{
	size_t count;
	CLEANUP(free) struct diff_row *rows = diff_sort_threads(comparison, &count);

	for (size_t i = 0; rows && i < count; i++)
		write_thread(json, comparison, &rows[i]);
	return rows ? 0 : -ENOMEM;
}

int diff_print_json(const struct comparison *comparison, const struct diff_style *style)
{
	struct json json = { .out = stdout };
	size_t count;
	CLEANUP(free)
	struct diff_row *rows = diff_sort_functions(comparison, style->is_by_total, &count);

	for (size_t i = 0; rows && i < count; i++)
		write_function(&json, comparison, &rows[i]);
	if (!rows)
		return -ENOMEM;
	return style->wants_threads ? write_threads(&json, comparison) : 0;
}

static void write_side(struct json *json, const char *key, const struct compared_side *side)
{
	const struct samples *samples = side->model->samples;

	json_object(json, key);
	json_text(json, "recording", side->path);
	json_number(json, "samples", samples->count);
	json_number(json, "samples_lost", samples->lost);
	json_number(json, "duration_ns", samples->last_ns - samples->first_ns);
	json_number(json, "hz", samples->hz);
	json_text(json, "sampler", samples->sampler);
	json_fixed(json, "complete_percent", samples_complete(samples), 2);
	json_number(json, "compared_samples", side->profile.sample_count);
	json_number(json, "compared_ns", side->profile.weight_ns);
	json_object_end(json);
}

void diff_totals_json(struct json *json, const struct comparison *comparison)
{
	char warnings[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE];
	size_t count = comparison_warnings(comparison, warnings);

	json_text(json, "view", profile_kinds_name(comparison->kinds));
	write_side(json, "a", &comparison->sides[SIDE_A]);
	write_side(json, "b", &comparison->sides[SIDE_B]);
	json_list(json, "warnings");
	for (size_t i = 0; i < count; i++)
		json_text(json, NULL, warnings[i]);
	json_list_end(json);
}

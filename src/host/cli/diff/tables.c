/*
 * Functions and threads, sorted by their change: lines for people, objects for programs.
 */
#include "host/cli/diff/tables.h"

#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/statistics.h"

#include <errno.h>
#include <math.h>

struct diff_row {
	size_t number; /* of the function or the thread */
	const struct compared_part *parts;
	struct share_change change; /* that rows are sorted by */
};

static struct share_change find_change(const struct comparison *comparison,
				       const struct compared_part *parts, bool is_by_total)
{
	return is_by_total ? comparison_change(comparison, parts[SIDE_A].total_ns,
					       parts[SIDE_B].total_ns)
			   : comparison_change(comparison, parts[SIDE_A].self_ns,
					       parts[SIDE_B].self_ns);
}

/* "new": only in B; "gone": only in A; "both". */
static const char *presence_of(const struct compared_part parts[SIDES])
{
	if (parts[SIDE_A].total_count && parts[SIDE_B].total_count)
		return "both";
	return parts[SIDE_A].total_count ? "gone" : "new";
}

/* The largest change first; equal changes, such as none: by size. */
static int by_change(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double sizes[] = { fabs(a->change.points), fabs(b->change.points) };
	uint64_t times[] = { a->parts[SIDE_A].total_ns + a->parts[SIDE_B].total_ns,
			     b->parts[SIDE_A].total_ns + b->parts[SIDE_B].total_ns };

	if (sizes[0] < sizes[1] || sizes[0] > sizes[1])
		return sizes[0] > sizes[1] ? -1 : 1;
	if (times[0] != times[1])
		return times[0] > times[1] ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Only entries in one of the two.  The caller frees them; NULL: no memory. */
static struct diff_row *rows_sort(const struct comparison *comparison, bool is_of_threads,
				  bool is_by_total, size_t *ret_count)
{
	size_t all = is_of_threads ? comparison->thread_count : comparison->function_count;
	struct diff_row *rows = calloc(all + 1, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; rows && i < all; i++) {
		const struct compared_part *parts = is_of_threads ? comparison->threads[i].parts
								  : comparison->functions[i].parts;

		if (parts[SIDE_A].total_count || parts[SIDE_B].total_count)
			rows[count++] =
				(struct diff_row){ i, parts,
						   find_change(comparison, parts, is_by_total) };
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_change);
	*ret_count = count;
	return rows;
}

/* How much of it there was: shares hide that. */
static void print_side(const struct comparison *comparison, enum side side)
{
	const struct compared_side *self = &comparison->sides[side];
	const struct samples *samples = self->model->samples;
	double time = (double)self->profile.weight_ns / 1e9;
	double length = (double)(samples->last_ns - samples->first_ns) / 1e9;
	char title[512], description[512];

	comparison_title(comparison, side, title, sizeof(title));
	comparison_describe(comparison, side, description, sizeof(description));
	print(stdout, "%" PRINAME "\n   %" PRINAME "\n", title, description);
	print(stdout, "   %s: %lu sample%s, %.3f s, %.2f threads at a time\n",
	      profile_kinds_name(comparison->kinds), self->profile.sample_count,
	      plural(self->profile.sample_count), time, length > 0 ? time / length : 0);
}

static void print_change(const struct diff_row *row)
{
	const char *presence = presence_of(row->parts);
	double a = row->change.shares[SIDE_A], b = row->change.shares[SIDE_B];
	char factor[32] = "-";

	if (presence[0] != 'b')
		snprintf(factor, sizeof(factor), "%s%s", presence, row->change.is_noise ? "?" : "");
	else if (a > 0 && b > 0)
		snprintf(factor, sizeof(factor), b / a < 1000 ? "x%.2f" : "x%.0f", b / a);
	print(stdout, "%7.2f %7.2f %+8.2f%c %6.2f %8s", share_shown(a), share_shown(b),
	      share_shown(row->change.points), row->change.is_noise ? '~' : ' ', row->change.error,
	      factor);
}

static void print_function(const struct comparison *comparison, const struct diff_row *row,
			   bool is_by_total)
{
	const struct compared_function *function = &comparison->functions[row->number];
	struct share_change other = find_change(comparison, row->parts, !is_by_total);

	print_change(row);
	print(stdout, " %7.2f %7.2f  %" PRINAME, share_shown(other.shares[SIDE_A]),
	      share_shown(other.shares[SIDE_B]), function->name);
	if (function->is_named)
		print(stdout, " (%" PRINAME ")", function->module);
	print(stdout, "\n");
}

static void print_thread(const struct comparison *comparison, const struct diff_row *row)
{
	const struct compared_thread *thread = &comparison->threads[row->number];

	print_change(row);
	print(stdout, " %7u %7u  %" PRINAME "\n", thread->threads[SIDE_A], thread->threads[SIDE_B],
	      thread->name);
}

static void print_head(bool is_of_threads, bool is_by_total)
{
	const char *first = is_by_total ? "TOTAL" : "SELF",
		   *second = is_by_total ? "SELF" : "TOTAL";

	if (is_of_threads) {
		print(stdout,
		      "\nthreads, by name: %% of all in A and in B, and how many there were\n");
		print(stdout, "%7s %7s %8s  %6s %8s %7s %7s  %s\n", "A", "B", "CHANGE", "+-",
		      "FACTOR", "COUNT A", "COUNT B", "NAME");
		return;
	}
	print(stdout, "\nfunctions: %% in A and in B, and the change of %s in points\n", first);
	print(stdout, "(~ and ?: inside +-, the 95 %% confidence interval: may be chance)\n");
	print(stdout, "%5s A %5s B %8s  %6s %8s %5s A %5s B  %s\n", first, first, "CHANGE", "+-",
	      "FACTOR", second, second, "FUNCTION");
}

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

static void write_function(const struct comparison *comparison, const struct diff_row *row)
{
	const struct compared_function *function = &comparison->functions[row->number];
	struct share_change self = find_change(comparison, row->parts, /* is_by_total */ false);
	struct share_change total = find_change(comparison, row->parts, /* is_by_total */ true);
	struct json json = json_event(stdout, "compared_function");

	json_text(&json, "name", function->name);
	json_text(&json, "module", function->module);
	json_bool(&json, "named", function->is_named);
	json_text(&json, "in", presence_of(row->parts));
	write_change(&json, "self", &self);
	write_change(&json, "total", &total);
	write_part(&json, "a", &row->parts[SIDE_A]);
	write_part(&json, "b", &row->parts[SIDE_B]);
	json_object_end(&json);
}

static void write_thread(const struct comparison *comparison, const struct diff_row *row)
{
	const struct compared_thread *thread = &comparison->threads[row->number];
	struct json json = json_event(stdout, "compared_thread");

	json_text(&json, "name", thread->name);
	json_text(&json, "in", presence_of(row->parts));
	write_change(&json, "share", &row->change);
	json_number(&json, "a_threads", thread->threads[SIDE_A]);
	json_number(&json, "b_threads", thread->threads[SIDE_B]);
	json_number(&json, "a_ns", row->parts[SIDE_A].total_ns);
	json_number(&json, "b_ns", row->parts[SIDE_B].total_ns);
	json_object_end(&json);
}

static int print_table(const struct comparison *comparison, const struct diff_style *style,
		       bool is_of_threads)
{
	bool is_by_total = is_of_threads || style->is_by_total;
	size_t count;
	CLEANUP(free)
	struct diff_row *rows = rows_sort(comparison, is_of_threads, is_by_total, &count);
	size_t shown = style->limit && !style->is_json ? MIN(count, style->limit) : count;

	if (!rows)
		return -ENOMEM;
	if (!style->is_json)
		print_head(is_of_threads, is_by_total);
	for (size_t i = 0; i < shown; i++) {
		if (style->is_json)
			(is_of_threads ? write_thread : write_function)(comparison, &rows[i]);
		else if (is_of_threads)
			print_thread(comparison, &rows[i]);
		else
			print_function(comparison, &rows[i], is_by_total);
	}
	if (shown < count)
		print(stdout, "%8sand %zu more (-n 0 shows all)\n", "", count - shown);
	return 0;
}

int diff_print(const struct comparison *comparison, const struct diff_style *style)
{
	int r;

	for (unsigned side = 0; !style->is_json && side < SIDES; side++)
		print_side(comparison, side);
	r = print_table(comparison, style, /* is_of_threads */ false);
	if (!r && style->wants_threads)
		r = print_table(comparison, style, /* is_of_threads */ true);
	return r;
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

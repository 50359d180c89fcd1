/*
 * `limpet diff` for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "host/cli/diff/diff_report.h"
#include "host/cli/printable.h"
#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/statistics.h"

static double time_seconds(uint64_t time_ns)
{
	return (double)time_ns / 1e9;
}

/* How much of it there was: shares hide that. */
static void print_side(const struct comparison *comparison, enum side side)
{
	const struct compared_side *self = &comparison->sides[side];
	const struct samples *samples = self->model->samples;
	double time = time_seconds(self->profile.weight_ns);
	double length = time_seconds(samples->last_ns - samples->first_ns);
	char words[512], shown[NAME_MAX_SHOWN];

	comparison_title(comparison, side, words, sizeof(words));
	print(stdout, "%s\n", printable(words, shown));
	comparison_describe(comparison, side, words, sizeof(words));
	print(stdout, "   %s\n", printable(words, shown));
	print(stdout, "   %s: %" PRIu64 " sample%s, %.3f s, %.2f threads at a time\n",
	      profile_kinds_name(comparison->kinds), self->profile.sample_count,
	      plural(self->profile.sample_count), time, length > 0 ? time / length : 0);
}

static const char *row_factor(const struct diff_row *row, char *room, size_t size)
{
	const char *presence = diff_presence(row->parts);
	double a = row->change.shares[SIDE_A], b = row->change.shares[SIDE_B];

	if (presence[0] != 'b')
		snprintf(room, size, "%s%s", presence, row->change.is_noise ? "?" : "");
	else if (a > 0 && b > 0)
		snprintf(room, size, b / a < 1000 ? "x%.2f" : "x%.0f", b / a);
	else
		snprintf(room, size, "-");
	return room;
}

static void print_change(const struct diff_row *row)
{
	char text[32];

	print(stdout, "%7.2f %7.2f %+8.2f%c %6.2f %8s", share_shown(row->change.shares[SIDE_A]),
	      share_shown(row->change.shares[SIDE_B]), share_shown(row->change.points),
	      row->change.is_noise ? '~' : ' ', row->change.error,
	      row_factor(row, text, sizeof(text)));
}

static void print_function(const struct comparison *comparison, const struct diff_row *row,
			   bool is_by_total)
{
	const struct compared_function *function = &comparison->functions[row->number];
	struct share_change other = diff_change(comparison, row->parts, !is_by_total);
	char name[NAME_MAX_SHOWN], module[NAME_MAX_SHOWN];

	print_change(row);
	print(stdout, " %7.2f %7.2f  %s", share_shown(other.shares[SIDE_A]),
	      share_shown(other.shares[SIDE_B]), printable(function->name, name));
	if (function->is_named)
		print(stdout, " (%s)", printable(function->module, module));
	print(stdout, "\n");
}

static void print_more(size_t shown, size_t all)
{
	if (shown < all)
		print(stdout, "%8sand %zu more (-n 0 shows all)\n", "", all - shown);
}

static int print_functions(const struct comparison *comparison, const struct diff_style *style)
{
	static const char *const names[] = { "SELF", "TOTAL" };
	const char *first = names[style->is_by_total], *second = names[!style->is_by_total];
	size_t count, shown;
	CLEANUP(free)
	struct diff_row *rows = diff_sort_functions(comparison, style->is_by_total, &count);

	if (!rows)
		return -ENOMEM;
	shown = style->limit ? MIN(count, style->limit) : count;
	print(stdout, "\nfunctions: %% in A and in B, and the change of %s in points\n", first);
	print(stdout, "(~ and ?: inside +-, the 95 %% confidence interval: may be chance)\n");
	print(stdout, "%5s A %5s B %8s  %6s %8s %5s A %5s B  %s\n", first, first, "CHANGE", "+-",
	      "FACTOR", second, second, "FUNCTION");
	for (size_t i = 0; i < shown; i++)
		print_function(comparison, &rows[i], style->is_by_total);
	print_more(shown, count);
	return 0;
}

static int print_threads(const struct comparison *comparison, uint64_t limit)
{
	size_t count, shown;
	CLEANUP(free) struct diff_row *rows = diff_sort_threads(comparison, &count);
	char name[NAME_MAX_SHOWN];

	if (!rows)
		return -ENOMEM;
	shown = limit ? MIN(count, limit) : count;
	print(stdout, "\nthreads, by name: %% of all in A and in B, and how many there were\n");
	print(stdout, "%7s %7s %8s  %6s %8s %7s %7s  %s\n", "A", "B", "CHANGE", "+-", "FACTOR",
	      "COUNT A", "COUNT B", "NAME");
	for (size_t i = 0; i < shown; i++) {
		const struct compared_thread *thread = &comparison->threads[rows[i].number];

		print_change(&rows[i]);
		print(stdout, " %7u %7u  %s\n", thread->threads[SIDE_A], thread->threads[SIDE_B],
		      printable(thread->name, name));
	}
	print_more(shown, count);
	return 0;
}

int diff_print(const struct comparison *comparison, const struct diff_style *style)
{
	int r;

	for (unsigned side = 0; side < SIDES; side++)
		print_side(comparison, side);
	r = print_functions(comparison, style);
	return !r && style->wants_threads ? print_threads(comparison, style->limit) : r;
}

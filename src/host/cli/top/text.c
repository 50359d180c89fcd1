/*
 * `limpet top --batch`.
 */
#include "host/cli/top/text.h"

#include "host/cli/printable.h"
#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/profile.h"
#include "host/model/statistics.h"
#include "host/top/view.h"

#include <inttypes.h>
#include <string.h>

/* The hottest path ends below this share, in hundredths of a percent. */
#define PATH_LEAST 100u

static void print_name(const char *name, FILE *out)
{
	char text[NAME_MAX_SHOWN];

	print(out, "%s", printable(name, text));
}

static double share_percent(uint64_t part, uint64_t whole)
{
	return (double)share_of(part, whole) / 100;
}

static void print_processes(const struct picture *picture, FILE *out)
{
	if (!picture->pid) {
		print(out, "every process, %zu seen", picture->others);
		return;
	}
	print(out, "process %d (", (int)picture->pid);
	print_name(picture->process, out);
	fputc(')', out);
	if (picture->others)
		print(out, " and %zu descendant%s", picture->others, plural(picture->others));
	if (picture->source.has_ended)
		fputs(", which has ended", out);
}

static void print_head(const struct picture *picture, FILE *out)
{
	const char *kinds = profile_kinds_name(picture->kinds);
	const char *reasons = picture->source.reasons;

	print_processes(picture, out);
	print(out, ": sampler %s (%s), %u Hz, %s\n", picture->source.sampler,
	      picture->source.summary, picture->hz, kinds ? kinds : "all");
	print(out, "%" PRIu64 " sample%s, %.2f %% complete, %" PRIu64 " lost\n", picture->seen,
	      plural(picture->seen), share_percent(picture->complete, picture->seen),
	      picture->source.lost);
	if (picture->source.throttled > 1)
		print(out,
		      "note: for a time only one sample in %u was taken, for all of them: samples cost "
		      "limpet no more than a tenth of a CPU\n",
		      picture->source.throttled);
	for (; *reasons; reasons += strcspn(reasons, "\n"), reasons += *reasons == '\n')
		print(out, "note: %.*s\n", (int)strcspn(reasons, "\n"), reasons);
}

static void print_counters(const struct picture *picture, FILE *out)
{
	if (picture->counter_count)
		print(out, "\n%14s %-6s %s\n", "LAST WINDOW", "UNIT", "COUNTER");
	for (size_t i = 0; i < picture->counter_count; i++) {
		const struct picture_counter *counter = &picture->counters[i];

		if (counter->has_value)
			print(out, "%14.3f %-6s ", counter->value, counter->unit);
		else
			print(out, "%14s %-6s ", "<not counted>", "");
		print_name(counter->name, out);
		fputc('\n', out);
	}
}

static void print_more(size_t shown, size_t count, FILE *out)
{
	if (shown < count)
		print(out, "%8s and %zu more (-n)\n", "", count - shown);
}

static void print_threads(const struct picture *picture, size_t limit, FILE *out)
{
	const struct view view = { 0 };
	CLEANUP(free) const struct picture_thread **rows = view_threads(&view, picture);
	size_t shown = rows ? MIN(picture->thread_count, limit) : 0;

	print(out, "\n%8s  %-9s %6s %9s  %s\n", "TID", "STATE", "CPU %", "SAMPLES", "THREAD");
	for (size_t i = 0; i < shown; i++) {
		const struct picture_thread *thread = rows[i];

		print(out, "%8d  %-9s ", (int)thread->tid,
		      thread->state ? thread_state_name(thread->state) : "ended");
		if (thread->percent < 0)
			print(out, "%6s", "-");
		else
			print(out, "%6.1f", thread->percent);
		print(out, " %9" PRIu64 "  ", thread->samples);
		print_name(thread->name, out);
		fputc('\n', out);
	}
	print_more(shown, picture->thread_count, out);
}

static void print_functions(const struct picture *picture, size_t limit, FILE *out)
{
	size_t shown = MIN(picture->function_count, limit);

	print(out, "\n%8s %8s %9s  %s\n", "SELF %", "TOTAL %", "SAMPLES", "FUNCTION");
	for (size_t i = 0; i < shown; i++) {
		const struct picture_function *row = &picture->functions[i];

		print(out, "%8.2f %8.2f %9" PRIu64 "  ",
		      share_percent(row->self_ns, picture->weight_ns),
		      share_percent(row->total_ns, picture->weight_ns), row->self_count);
		print_name(row->name, out);
		if (row->is_named) {
			fputs(" (", out);
			print_name(row->module, out);
			fputc(')', out);
		}
		fputc('\n', out);
	}
	print_more(shown, picture->function_count, out);
}

static void print_path(const struct picture *picture, FILE *out)
{
	const struct call_tree *tree = &picture->tree;
	uint64_t all = tree->count ? tree->metrics[0].total_ns : 0;
	uint32_t at = all ? tree->nodes[0].first : TREE_NONE;
	char name[512];

	print(out, "\n%8s %8s  %s\n", "TOTAL %", "SELF %", "HOTTEST PATH");
	while (at != TREE_NONE && share_of(tree->metrics[at].total_ns, all) >= PATH_LEAST) {
		print(out, "%8.2f %8.2f  ", share_percent(tree->metrics[at].total_ns, all),
		      share_percent(tree->metrics[at].self_ns, all));
		call_tree_name(tree, &tree->nodes[at], name, sizeof(name));
		print_name(name, out);
		fputc('\n', out);
		at = tree->nodes[at].first;
	}
}

void top_text_print(const struct picture *picture, size_t rows, FILE *out)
{
	print_head(picture, out);
	print_counters(picture, out);
	print_threads(picture, rows, out);
	print_functions(picture, rows, out);
	print_path(picture, out);
}

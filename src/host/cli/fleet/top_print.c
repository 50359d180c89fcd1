/*
 * Tables of fleet top, and the same as a line of JSON.
 */
#include "host/cli/fleet/top_print.h"

#include "host/cli/fleet/fleet.h"
#include "host/core/clock.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <inttypes.h>

#define ROW_END      100u /* letters of a function's name and module */
#define SILENT_SHOWN 4u   /* nodes */

/* Of one processor. */
static double cpu_percent(uint64_t ns_per_second)
{
	return (double)ns_per_second / 1e7;
}

const char *rank_label(const struct fleet *fleet, size_t index, char ret[RANK_LABEL_MAX])
{
	const struct fleet_rank *rank = &fleet->ranks[index];

	if (rank->is_told)
		print_into(ret, RANK_LABEL_MAX, "%u", rank->number);
	else
		print_into(ret, RANK_LABEL_MAX, "%.20s:%d", fleet_node_name(fleet, rank),
			   (int)rank->pid);
	return ret;
}

static void head_print(const struct top_view *view, const struct fleet *fleet, FILE *out)
{
	print(out, "%s: %zu of %zu rank%s on %zu of %zu node%s, %" PRIu64 " sample%s in %.2g s",
	      fleet->title, view->rank_count, fleet->rank_count, plural(fleet->rank_count),
	      view->heard_count, fleet->node_count, plural(fleet->node_count), view->samples,
	      plural(view->samples), (double)view->window_ns / 1e9);
	if (view->lost)
		print(out, ", %" PRIu64 " lost since the beginning", view->lost);
	if (view->costly_node != NODE_NONE)
		print(out, "; limpet takes %.2f %% of a CPU (%s)", view->own_share * 100,
		      fleet->nodes[view->costly_node].name);
	fputc('\n', out);
}

/* Nodes that are not in the picture, and why, on one line. */
static void silent_print(const struct top_view *view, const struct fleet *fleet, FILE *out)
{
	size_t silent = 0;

	for (size_t i = 0; i < fleet->node_count; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		if (view->is_heard[i] || silent++ >= SILENT_SHOWN)
			continue;
		print(out, "%s%s: %.60s", silent > 1 ? "; " : "", node->name,
		      *node->trouble                ? node->trouble
		      : node->phase == NODE_ENDED   ? "has ended"
		      : node->phase == NODE_GREETED ? "has told nothing lately"
						    : "no answer yet");
	}
	if (silent > SILENT_SHOWN)
		print(out, "; and %zu more", silent - SILENT_SHOWN);
	if (silent)
		fputc('\n', out);
}

static void function_print(const struct top_view *view, const struct fleet *fleet,
			   const struct spread *row, FILE *out)
{
	uint64_t mean = spread_mean(row, view->rank_count);
	const char *name = pool_text(&view->functions.texts, row->name);
	const char *module = pool_text(&view->functions.texts, row->module);
	char least[RANK_LABEL_MAX + 16], most[RANK_LABEL_MAX + 16], label[RANK_LABEL_MAX];

	/* If nodes omit functions, the minimum may be a little more than 0. */
	if (row->ranks < view->rank_count)
		snprintf(least, sizeof(least), "%s0 in %zu", view->other_ns ? "~" : "",
			 view->rank_count - row->ranks);
	else
		print_into(least, sizeof(least), "%.1f [%s]", cpu_percent(row->least_ns),
			   rank_label(fleet, row->least_rank, label));
	print_into(most, sizeof(most), "%.1f [%s]", cpu_percent(row->most_ns),
		   rank_label(fleet, row->most_rank, label));
	print(out, "%7.1f %14s %14s %7.1f  %.*s%s%.*s%s\n", cpu_percent(mean), least, most,
	      cpu_percent(row->total_ns / MAX(view->rank_count, 1u)), (int)ROW_END, name,
	      *module ? " (" : "", (int)ROW_END, module, *module ? ")" : "");
}

static void functions_print(const struct top_view *view, const struct fleet *fleet, size_t rows,
			    FILE *out)
{
	size_t shown = MIN(view->functions.count, rows);

	print(out, "\n%7s %14s %14s %7s  %s\n", "MEAN %", "LEAST [RANK]", "MOST [RANK]", "IN ALL",
	      "FUNCTION");
	for (size_t i = 0; i < shown; i++)
		function_print(view, fleet, &view->functions.items[i], out);
}

static void rank_print(const struct top_view *view, const struct fleet *fleet, size_t index,
		       FILE *out)
{
	const struct top_view_rank *rank = &view->ranks[index];
	char label[RANK_LABEL_MAX];

	print(out, "%14s  %-14.14s %8d %7.1f  %.*s\n", rank_label(fleet, rank->rank, label),
	      fleet_node_name(fleet, &fleet->ranks[rank->rank]), (int)fleet->ranks[rank->rank].pid,
	      cpu_percent(rank->running_ns), (int)ROW_END, rank->function);
}

/* Of many ranks, those that run most and those that run least. */
static void ranks_print(const struct top_view *view, const struct fleet *fleet, size_t rows,
			FILE *out)
{
	size_t count = view->rank_count;
	size_t head = count <= rows ? count : rows - rows / 2;
	size_t tail = count <= rows ? 0 : rows / 2;

	print(out, "\n%14s  %-14s %8s %7s  %s\n", "RANK", "NODE", "PID", "CPU %", "MOST IN");
	for (size_t i = 0; i < head; i++)
		rank_print(view, fleet, i, out);
	if (count > rows)
		print(out, "%14s  and %zu between\n", "", count - head - tail);
	for (size_t i = count - tail; i < count; i++)
		rank_print(view, fleet, i, out);
}

void top_print_text(const struct top_view *view, const struct fleet *fleet, size_t rows, FILE *out)
{
	head_print(view, fleet, out);
	silent_print(view, fleet, out);
	functions_print(view, fleet, rows, out);
	ranks_print(view, fleet, rows, out);
}

static void rank_name_write(struct json *json, const char *key, const struct fleet *fleet,
			    size_t index)
{
	const struct fleet_rank *rank = &fleet->ranks[index];

	json_object(json, key);
	if (rank->is_told)
		json_number(json, "rank", rank->number);
	json_text(json, "node", fleet_node_name(fleet, rank));
	json_signed(json, "pid", rank->pid);
	json_object_end(json);
}

/* Times are nanoseconds of a processor in a second of a rank. */
static void function_write(struct json *json, const struct top_view *view,
			   const struct fleet *fleet, const struct spread *row)
{
	json_object(json, NULL);
	json_text(json, "function", pool_text(&view->functions.texts, row->name));
	json_text(json, "module", pool_text(&view->functions.texts, row->module));
	json_number(json, "ranks", row->ranks);
	json_number(json, "mean_ns", spread_mean(row, view->rank_count));
	json_number(json, "mean_total_ns", row->total_ns / MAX(view->rank_count, 1u));
	json_number(json, "least_ns", row->ranks < view->rank_count ? 0 : row->least_ns);
	if (row->ranks >= view->rank_count)
		rank_name_write(json, "least", fleet, row->least_rank);
	json_number(json, "most_ns", row->most_ns);
	rank_name_write(json, "most", fleet, row->most_rank);
	json_object_end(json);
}

static void rank_write(struct json *json, const struct fleet *fleet,
		       const struct top_view_rank *rank)
{
	json_object(json, NULL);
	rank_name_write(json, "who", fleet, rank->rank);
	json_number(json, "running_ns", rank->running_ns);
	json_text(json, "function", rank->function);
	json_object_end(json);
}

void top_print_json(const struct top_view *view, const struct fleet *fleet, size_t rows, FILE *out)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_text(&json, "event", "top");
	json_number(&json, "real_ns", clock_read_ns(CLOCK_REALTIME));
	json_number(&json, "ranks", view->rank_count);
	json_number(&json, "nodes", view->heard_count);
	json_number(&json, "samples", view->samples);
	json_number(&json, "window_ns", view->window_ns);
	json_number(&json, "lost", view->lost);
	json_number(&json, "hz", view->least_hz);
	json_number(&json, "other_ns", view->other_ns);
	if (view->costly_node != NODE_NONE)
		json_rounded(&json, "limpet_percent", view->own_share * 100, 3);
	json_list(&json, "functions");
	for (size_t i = 0; i < MIN(view->functions.count, rows); i++)
		function_write(&json, view, fleet, &view->functions.items[i]);
	json_list_end(&json);
	json_list(&json, "by_rank");
	for (size_t i = 0; i < view->rank_count; i++)
		rank_write(&json, fleet, &view->ranks[i]);
	json_list_end(&json);
	json_object_end(&json);
}

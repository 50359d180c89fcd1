/*
 * limpet fleet report: the totals of a recorded fleet, as tables and as objects.
 */
#include "host/cli/fleet/fleet.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/fleet/folder/fleet_folder.h"
#include "host/fleet/report/fleet_totals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_ALL  16u /* ranks; of more the ends are shown */
#define SHOWN_ENDS 6u
#define SILENT_NS  1000000000ull
#define EVERY_NS   200000000ull

static double to_seconds(uint64_t time_ns)
{
	return (double)time_ns / 1e9;
}

static void head_print(const struct fleet *fleet, const struct fleet_totals *totals)
{
	time_t begin = (time_t)(totals->begin_ns / 1000000000u);
	struct tm local;
	char when[32] = "";

	if (totals->begin_ns && localtime_r(&begin, &local))
		strftime(when, sizeof(when), " from %Y-%m-%d %H:%M:%S", &local);
	print(stdout, "%s: %zu of %zu rank%s recorded, on %zu node%s%s, %.3f s\n", fleet->title,
	      totals->read_count, totals->rank_count, plural(totals->rank_count), fleet->node_count,
	      plural(fleet->node_count), when,
	      to_seconds(totals->end_ns - MIN(totals->begin_ns, totals->end_ns)));
	print(stdout, "%lu sample%s, %lu call%s\n", totals->samples, plural(totals->samples),
	      totals->calls, plural(totals->calls));
}

/* Times of ranks on different nodes are as exact as those clocks. */
static void clocks_print(const struct fleet *fleet)
{
	uint64_t worst_ns = 0, unknown = 0;
	const char *worst = "";

	for (size_t i = 0; i < fleet->node_count; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		unknown += !node->is_synchronized;
		if (node->is_synchronized && node->clock_error_ns >= worst_ns) {
			worst_ns = node->clock_error_ns;
			worst = node->name;
		}
	}
	if (fleet->node_count < 2)
		return;
	if (*worst)
		print(stdout, "clocks of nodes are right within %.3f ms (%s)\n",
		      (double)worst_ns / 1e6, worst);
	print_counted(stdout, unknown, "clocks of # node{|s} are not synchronized\n");
}

static void imbalance_print(const struct fleet_totals *totals)
{
	uint64_t sum = 0;
	const struct rank_totals *most = NULL;

	for (size_t i = 0; i < totals->rank_count; i++) {
		const struct rank_totals *rank = &totals->ranks[i];

		if (!rank->is_read)
			continue;
		sum += rank->running_ns;
		if (!most || rank->running_ns > most->running_ns)
			most = rank;
	}
	if (!most || totals->read_count < 2 || !sum)
		return;
	print(stdout, "imbalance: rank %u ran for %.3f s, %.1f %% more than the mean of %.3f s\n",
	      most->rank, to_seconds(most->running_ns),
	      (double)imbalance_of(most->running_ns, sum / totals->read_count) / 100,
	      to_seconds(sum / totals->read_count));
}

static void spread_print(const struct spreads *spreads, const struct spread *row, uint64_t ranks)
{
	uint64_t mean = spread_mean(row, ranks);
	const char *module = pool_text(&spreads->texts, row->module);
	char least[32], most[32];

	if (row->ranks < ranks)
		snprintf(least, sizeof(least), "0 in %lu", ranks - row->ranks);
	else
		snprintf(least, sizeof(least), "%.3f [%u]", to_seconds(row->least_ns),
			 row->least_rank);
	snprintf(most, sizeof(most), "%.3f [%u]", to_seconds(row->most_ns), row->most_rank);
	print(stdout, "%9.3f  %14s  %14s  %8.1f %% %9.3f  %s%s%s%s\n", to_seconds(mean), least,
	      most, (double)imbalance_of(row->most_ns, mean) / 100,
	      to_seconds(row->total_ns / ranks), pool_text(&spreads->texts, row->name),
	      *module ? " (" : "", module, *module ? ")" : "");
}

static void spreads_print(const struct fleet_totals *totals, enum spread_kind kind, uint64_t rows,
			  const char *title)
{
	const struct spreads *spreads = &totals->spreads[kind];

	if (!spreads->count)
		return;
	print(stdout, "\n%s, seconds of a rank:\n", title);
	print(stdout, "%9s  %14s  %14s  %10s %9s  %s\n", "MEAN", "LEAST [RANK]", "MOST [RANK]",
	      "IMBALANCE", "IN ALL", "FUNCTION");
	for (size_t i = 0; i < MIN(spreads->count, rows); i++)
		spread_print(spreads, &spreads->items[i], MAX(totals->read_count, 1u));
	if (spreads->count > rows)
		print(stdout, "%9s  and %lu more (-n)\n", "", spreads->count - rows);
	print_counted(stdout, spreads->left_out,
		      "note: there are more functions than are told apart: # are in [other "
		      "functions]\n");
}

static int compare_running(const void *a, const void *b)
{
	const struct rank_totals *left = *(const struct rank_totals *const *)a;
	const struct rank_totals *right = *(const struct rank_totals *const *)b;

	if (left->running_ns != right->running_ns)
		return left->running_ns < right->running_ns ? 1 : -1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static void rank_print(const struct fleet_totals *totals, const struct rank_totals *rank)
{
	const char *top = rank->top == POOL_NONE
				  ? ""
				  : pool_text(&totals->spreads[rank->top_kind].texts, rank->top);
	char waiting[32] = "-", pid[16] = "-";

	if (rank->has_waits)
		snprintf(waiting, sizeof(waiting), "%.3f", to_seconds(rank->waiting_ns));
	if (rank->pid)
		snprintf(pid, sizeof(pid), "%d", rank->pid);
	print(stdout, "%6u  %-12s %8s %9.3f %9s %9.3f  %s\n", rank->rank, rank->node, pid,
	      to_seconds(rank->running_ns), waiting, to_seconds(rank->length_ns), top);
}

/* All of a few; of many those that ran most and those that ran least. */
static void ranks_print(const struct fleet_totals *totals)
{
	CLEANUP(free)
	const struct rank_totals **ranks =
		calloc(totals->rank_count + 1, sizeof(struct rank_totals *));
	size_t count = 0;

	for (size_t i = 0; ranks && i < totals->rank_count; i++)
		if (totals->ranks[i].is_read)
			ranks[count++] = &totals->ranks[i];
	if (!count || !totals->samples)
		return;
	if (count > SHOWN_ALL)
		qsort(ranks, count, sizeof(struct rank_totals *), compare_running);
	print(stdout, "\n%s:\n%6s  %-12s %8s %9s %9s %9s  %s\n",
	      count > SHOWN_ALL ? "ranks that ran most, and least, in seconds of all their threads"
				: "ranks, in seconds of all their threads",
	      "RANK", "NODE", "PID", "RUNNING", "WAITING", "RECORDED", "MOST IN");
	for (size_t i = 0; i < count; i++) {
		if (count > SHOWN_ALL && i == SHOWN_ENDS) {
			i = count - SHOWN_ENDS;
			print(stdout, "   ...\n");
		}
		rank_print(totals, ranks[i]);
	}
}

static void totals_print(const struct fleet *fleet, const struct fleet_totals *totals,
			 uint64_t rows)
{
	head_print(fleet, totals);
	clocks_print(fleet);
	imbalance_print(totals);
	spreads_print(totals, SPREAD_RUNNING, rows, "functions, on CPU");
	spreads_print(totals, SPREAD_WAITING, rows, "where ranks waited");
	spreads_print(totals, SPREAD_CALLS, rows, "calls and work of devices");
	ranks_print(totals);
	fflush(stdout);
	for (size_t i = 0; i < totals->rank_count; i++)
		if (*totals->ranks[i].trouble)
			print(stderr, "warning: rank %u: %s\n", totals->ranks[i].rank,
			      totals->ranks[i].trouble);
}

static void rank_write(const struct rank_totals *rank)
{
	struct json json = json_event(stdout, "recorded_rank");

	json_number(&json, "rank", rank->rank);
	json_text(&json, "node", rank->node);
	json_signed(&json, "pid", rank->pid);
	json_bool(&json, "read", rank->is_read);
	json_text(&json, "trouble", rank->trouble);
	json_number(&json, "begin_real_ns", rank->begin_ns);
	json_number(&json, "length_ns", rank->length_ns);
	json_number(&json, "samples", rank->samples);
	json_number(&json, "calls", rank->calls);
	json_number(&json, "running_ns", rank->running_ns);
	json_bool(&json, "has_waits", rank->has_waits);
	json_number(&json, "waiting_ns", rank->waiting_ns);
	json_number(&json, "runnable_ns", rank->runnable_ns);
	json_object_end(&json);
}

static void spread_write(const struct fleet_totals *totals, unsigned kind, const struct spread *row)
{
	static const char *const kind_names[SPREAD_KINDS] = {
		[SPREAD_RUNNING] = "running",
		[SPREAD_WAITING] = "waiting",
		[SPREAD_CALLS] = "calls",
	};
	const struct pool *texts = &totals->spreads[kind].texts;
	uint64_t ranks = totals->read_count, mean = spread_mean(row, ranks);
	struct json json = json_event(stdout, "function");

	json_text(&json, "kind", kind_names[kind]);
	json_text(&json, "function", pool_text(texts, row->name));
	json_text(&json, "module", pool_text(texts, row->module));
	json_number(&json, "ranks", row->ranks);
	json_number(&json, "count", row->count);
	json_number(&json, "mean_ns", mean);
	/* The minimum over all ranks, including those without it. */
	json_number(&json, "least_ns", row->ranks < ranks ? 0 : row->least_ns);
	if (row->ranks >= ranks)
		json_number(&json, "least_rank", row->least_rank);
	json_number(&json, "most_ns", row->most_ns);
	json_number(&json, "most_rank", row->most_rank);
	json_fixed(&json, "imbalance_percent", imbalance_of(row->most_ns, mean), 2);
	json_number(&json, "mean_total_ns", ranks ? row->total_ns / ranks : 0);
	json_object_end(&json);
}

static void totals_write(const struct fleet *fleet, const struct fleet_totals *totals,
			 uint64_t rows)
{
	struct json json = json_event(stdout, "fleet");

	json_text(&json, "title", fleet->title);
	json_number(&json, "ranks", totals->rank_count);
	json_number(&json, "read", totals->read_count);
	json_number(&json, "nodes", fleet->node_count);
	json_number(&json, "samples", totals->samples);
	json_number(&json, "calls", totals->calls);
	json_number(&json, "begin_real_ns", totals->begin_ns);
	json_number(&json, "end_real_ns", totals->end_ns);
	json_object_end(&json);
	for (size_t i = 0; i < totals->rank_count; i++)
		rank_write(&totals->ranks[i]);
	for (unsigned kind = 0; kind < SPREAD_KINDS; kind++)
		for (size_t i = 0; i < MIN(totals->spreads[kind].count, rows); i++)
			spread_write(totals, kind, &totals->spreads[kind].items[i]);
}

/* For the terminal: several threads report progress. */
struct reading_line {
	uint64_t begin_ns;
	_Atomic uint64_t printed_ns;
};

static void reading_print(void *context, size_t done, size_t count)
{
	struct reading_line *self = context;
	uint64_t now = now_ns(), printed = atomic_load(&self->printed_ns);

	if (now - self->begin_ns < SILENT_NS || now - printed < EVERY_NS ||
	    !atomic_compare_exchange_strong(&self->printed_ns, &printed, now))
		return;
	print(stderr, "\rreading recordings: %zu of %zu ", done, count);
}

int totals_judge(const struct fleet *fleet, uint64_t troubled, struct err *err)
{
	if (!troubled)
		return 0;
	err_set(err, -EIO, "the recording%s of %lu of %zu ranks %s missing or not complete",
		plural(troubled), troubled, fleet->rank_count, is_are(troubled));
	return err_exit(err, EXIT_PARTLY);
}

int totals_show(const struct fleet *fleet, const char *folder, uint64_t rows, bool is_json,
		uint64_t *ret_troubled, struct err *err)
{
	CLEANUP(fleet_totals_done) struct fleet_totals totals = { 0 };
	struct reading_line line = { .begin_ns = now_ns() };
	const struct totals_watcher watcher = { reading_print, &line };
	const struct rank_totals *first = NULL; /* with a trouble */
	int r = fleet_totals_read(&totals, folder, fleet, isatty(STDERR_FILENO) ? &watcher : NULL,
				  err);

	*ret_troubled = 0;
	if (atomic_load(&line.printed_ns))
		fputs("\r\033[K", stderr);
	if (r)
		return r;
	for (size_t i = 0; i < totals.rank_count; i++) {
		if (!*totals.ranks[i].trouble)
			continue;
		first = first ? first : &totals.ranks[i];
		++*ret_troubled;
	}
	if (totals.samples || totals.calls) {
		(is_json ? totals_write : totals_print)(fleet, &totals, rows);
		return 0;
	}
	*ret_troubled = 0;
	err_set(err, -ENODATA, "'%s': %s", folder,
		totals.read_count ? "no recording has anything in it"
				  : "there is no recording that can be read");
	if (first)
		err_why(err, "rank %u: %s", first->rank, first->trouble);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

struct report_values {
	bool is_json;
	uint64_t rows;
};

#define FIELD(member) offsetof(struct report_values, member)

static const struct option_desc report_options[] = {
	{ 'n', "rows", "N", "show N rows of each table (default: 20)", FIELD(rows), OPTION_NUMBER },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

static int report_run(const struct command_line *line, struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	const struct report_values *values = line->values;
	const char *folder = line->operands[0];
	bool is_plain = false;
	uint64_t troubled;
	int r = fleet_folder_read(folder, &fleet, &is_plain, err);

	if (!r)
		r = totals_show(&fleet, folder, values->rows, values->is_json, &troubled, err);
	if (r)
		return r;
	if (!values->is_json)
		fleet_show(&fleet, /* is_json */ false);
	if (!is_plain)
		r = fleet_judge(&fleet, err);
	return r ? r : totals_judge(&fleet, troubled, err);
}

const struct command command_fleet_report = {
	.name = "fleet report",
	.summary = "summarize recordings of ranks: functions by mean, least and most",
	.usage = "DIR [--rows N] [--json]",
	.options = report_options,
	.values_size = sizeof(struct report_values),
	.defaults = &(const struct report_values){ .rows = TOTALS_ROWS },
	.operands = &fleet_folder_operand,
	.run = report_run,
	.notes =
		"DIR is what limpet fleet record made, or any folder of recordings, one for each rank.\n"
		"Exit code 8: some ranks are missing or not complete; what is there is shown.\n"
		"\n"
		"examples:\n"
		"  limpet fleet report run1\n"
		"  limpet fleet report run1 --json -n 1000\n",
};

/*
 * The summary of a recorded fleet as tables.
 */
#include "host/cli/fleet/totals_view.h"

#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN_ALL  16u /* ranks; of more the ends are shown */
#define SHOWN_ENDS 6u

static double to_seconds(uint64_t time_ns)
{
	return (double)time_ns / 1e9;
}

static void head_print(const struct totals_view *view)
{
	const struct fleet_totals *totals = view->totals;
	time_t begin = (time_t)(totals->begin_ns / 1000000000u);
	struct tm local;
	char when[32] = "";

	if (totals->begin_ns && localtime_r(&begin, &local))
		strftime(when, sizeof(when), " from %Y-%m-%d %H:%M:%S", &local);
	print(stdout, "%s: %zu of %zu rank%s recorded, on %zu node%s%s, %.3f s\n",
	      view->fleet->title, totals->read_count, totals->rank_count,
	      plural(totals->rank_count), view->fleet->node_count, plural(view->fleet->node_count),
	      when, to_seconds(totals->end_ns - MIN(totals->begin_ns, totals->end_ns)));
	print(stdout, "%" PRIu64 " sample%s, %" PRIu64 " call%s\n", totals->samples,
	      plural(totals->samples), totals->calls, plural(totals->calls));
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
	if (unknown)
		print(stdout, "clocks of %" PRIu64 " node%s are not synchronized\n", unknown,
		      plural(unknown));
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
		snprintf(least, sizeof(least), "0 in %" PRIu64, ranks - row->ranks);
	else
		snprintf(least, sizeof(least), "%.3f [%u]", to_seconds(row->least_ns),
			 row->least_rank);
	snprintf(most, sizeof(most), "%.3f [%u]", to_seconds(row->most_ns), row->most_rank);
	print(stdout, "%9.3f  %14s  %14s  %8.1f %% %9.3f  %s%s%s%s\n", to_seconds(mean), least,
	      most, (double)imbalance_of(row->most_ns, mean) / 100,
	      to_seconds(row->total_ns / ranks), pool_text(&spreads->texts, row->name),
	      *module ? " (" : "", module, *module ? ")" : "");
}

static void spreads_print(const struct totals_view *view, enum spread_kind kind, const char *title)
{
	const struct spreads *spreads = &view->totals->spreads[kind];

	if (!spreads->count)
		return;
	print(stdout, "\n%s, seconds of a rank:\n", title);
	print(stdout, "%9s  %14s  %14s  %10s %9s  %s\n", "MEAN", "LEAST [RANK]", "MOST [RANK]",
	      "IMBALANCE", "IN ALL", "FUNCTION");
	for (size_t i = 0; i < MIN(spreads->count, view->rows); i++)
		spread_print(spreads, &spreads->items[i], MAX(view->totals->read_count, 1u));
	if (spreads->count > view->rows)
		print(stdout, "%9s  and %" PRIu64 " more (-n)\n", "",
		      (uint64_t)(spreads->count - view->rows));
	if (spreads->left_out)
		print(stdout,
		      "note: there are more functions than are told apart: %" PRIu64
		      " are in [other functions]\n",
		      spreads->left_out);
}

static int compare_running(const void *a, const void *b)
{
	const struct rank_totals *left = *(const struct rank_totals *const *)a;
	const struct rank_totals *right = *(const struct rank_totals *const *)b;

	if (left->running_ns != right->running_ns)
		return left->running_ns < right->running_ns ? 1 : -1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static void rank_print(const struct totals_view *view, const struct rank_totals *rank)
{
	const char *top =
		rank->top == POOL_NONE
			? ""
			: pool_text(&view->totals->spreads[rank->top_kind].texts, rank->top);
	char waiting[32] = "-", pid[16] = "-";

	if (rank->has_waits)
		snprintf(waiting, sizeof(waiting), "%.3f", to_seconds(rank->waiting_ns));
	if (rank->pid)
		snprintf(pid, sizeof(pid), "%d", (int)rank->pid);
	print(stdout, "%6u  %-12s %8s %9.3f %9s %9.3f  %s\n", rank->rank, rank->node, pid,
	      to_seconds(rank->running_ns), waiting, to_seconds(rank->length_ns), top);
}

/* All of a few; of many those that ran most and those that ran least. */
static void ranks_print(const struct totals_view *view)
{
	const struct fleet_totals *totals = view->totals;
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
		rank_print(view, ranks[i]);
	}
}

static void troubles_print(const struct fleet_totals *totals)
{
	for (size_t i = 0; i < totals->rank_count; i++)
		if (*totals->ranks[i].trouble)
			print(stderr, "warning: rank %u: %s\n", totals->ranks[i].rank,
			      totals->ranks[i].trouble);
}

void totals_view_text(const struct totals_view *view)
{
	head_print(view);
	clocks_print(view->fleet);
	imbalance_print(view->totals);
	spreads_print(view, SPREAD_RUNNING, "functions, on CPU");
	spreads_print(view, SPREAD_WAITING, "where ranks waited");
	spreads_print(view, SPREAD_CALLS, "calls and work of devices");
	ranks_print(view);
	fflush(stdout);
	troubles_print(view->totals);
}

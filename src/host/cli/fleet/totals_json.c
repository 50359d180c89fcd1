/*
 * The summary of a recorded fleet as objects: one for all, one for each rank and each function.
 */
#include "host/cli/fleet/totals_view.h"

#include "host/core/text/json.h"

static const char *const kind_names[SPREAD_KINDS] = {
	[SPREAD_RUNNING] = "running",
	[SPREAD_WAITING] = "waiting",
	[SPREAD_CALLS] = "calls",
};

static void rank_write(struct json *json, const struct rank_totals *rank)
{
	json_object(json, NULL);
	json_text(json, "event", "recorded_rank");
	json_number(json, "rank", rank->rank);
	json_text(json, "node", rank->node);
	json_signed(json, "pid", rank->pid);
	json_bool(json, "read", rank->is_read);
	json_text(json, "trouble", rank->trouble);
	json_number(json, "begin_real_ns", rank->begin_ns);
	json_number(json, "length_ns", rank->length_ns);
	json_number(json, "samples", rank->samples);
	json_number(json, "calls", rank->calls);
	json_number(json, "running_ns", rank->running_ns);
	json_bool(json, "has_waits", rank->has_waits);
	json_number(json, "waiting_ns", rank->waiting_ns);
	json_number(json, "runnable_ns", rank->runnable_ns);
	json_object_end(json);
}

static void spread_write(struct json *json, const struct totals_view *view, unsigned kind,
			 const struct spread *row)
{
	const struct spreads *spreads = &view->totals->spreads[kind];
	uint64_t mean = spread_mean(row, view->totals->read_count);

	json_object(json, NULL);
	json_text(json, "event", "function");
	json_text(json, "kind", kind_names[kind]);
	json_text(json, "function", pool_text(&spreads->texts, row->name));
	json_text(json, "module", pool_text(&spreads->texts, row->module));
	json_number(json, "ranks", row->ranks);
	json_number(json, "count", row->count);
	json_number(json, "mean_ns", mean);
	/* The minimum over all ranks, including those without it. */
	json_number(json, "least_ns", row->ranks < view->totals->read_count ? 0 : row->least_ns);
	if (row->ranks >= view->totals->read_count)
		json_number(json, "least_rank", row->least_rank);
	json_number(json, "most_ns", row->most_ns);
	json_number(json, "most_rank", row->most_rank);
	json_fixed(json, "imbalance_percent", imbalance_of(row->most_ns, mean), 2);
	json_number(json, "mean_total_ns",
		    view->totals->read_count ? row->total_ns / view->totals->read_count : 0);
	json_object_end(json);
}

void totals_view_json(const struct totals_view *view)
{
	const struct fleet_totals *totals = view->totals;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "fleet");
	json_text(&json, "title", view->fleet->title);
	json_number(&json, "ranks", totals->rank_count);
	json_number(&json, "read", totals->read_count);
	json_number(&json, "nodes", view->fleet->node_count);
	json_number(&json, "samples", totals->samples);
	json_number(&json, "calls", totals->calls);
	json_number(&json, "begin_real_ns", totals->begin_ns);
	json_number(&json, "end_real_ns", totals->end_ns);
	json_object_end(&json);
	for (size_t i = 0; i < totals->rank_count; i++)
		rank_write(&json, &totals->ranks[i]);
	for (unsigned kind = 0; kind < SPREAD_KINDS; kind++)
		for (size_t i = 0; i < MIN(totals->spreads[kind].count, view->rows); i++)
			spread_write(&json, view, kind, &totals->spreads[kind].items[i]);
}

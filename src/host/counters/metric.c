/*
 * A table of ratios of events.
 */
#include "host/counters/metric.h"

#include <string.h>

static const struct metric_ratio {
	const char *event, *of; /* by another event of the same PMU and modes */
	double factor;
	const char *unit;
} ratios[] = {
	{ "cycles", "task-clock", 1, "GHz" },
	{ "instructions", "cycles", 1, "per cycle" },
	{ "branch-misses", "branches", 100, "% of branches" },
	{ "cache-misses", "cache-references", 100, "% of cache-references" },
	{ "stalled-cycles-frontend", "cycles", 100, "% of cycles" },
	{ "stalled-cycles-backend", "cycles", 100, "% of cycles" },
	{ "L1-dcache-load-misses", "L1-dcache-loads", 100, "% of L1-dcache-loads" },
	{ "L1-icache-load-misses", "L1-icache-loads", 100, "% of L1-icache-loads" },
	{ "LLC-load-misses", "LLC-loads", 100, "% of LLC-loads" },
	{ "dTLB-load-misses", "dTLB-loads", 100, "% of dTLB-loads" },
	{ "iTLB-load-misses", "iTLB-loads", 100, "% of iTLB-loads" },
	{ "topdown-retiring", "slots", 100, "% of slots" },
	{ "topdown-bad-spec", "slots", 100, "% of slots" },
	{ "topdown-fe-bound", "slots", 100, "% of slots" },
	{ "topdown-be-bound", "slots", 100, "% of slots" },
};

/* Time is the same in all modes, but not that of some processors. */
static bool event_is_partner(const struct counter_event *event, const struct counter_event *other,
			     const char *base)
{
	if (strcmp(other->base, base) || other->is_hidden)
		return false;
	if (other->is_time)
		return !event->is_partial;
	return !strcmp(other->pmu, event->pmu) && other->exclusions == event->exclusions;
}

/* A count of some threads has no ratio to one of all. */
static bool counts_are_of_same(const struct count *count, const struct count *other)
{
	return (count->status == COUNT_INCOMPLETE) == (other->status == COUNT_INCOMPLETE);
}

/* NULL: it was not counted, or was 0. */
static const struct count *metric_find_partner(const struct counter_events *events,
					       const struct count *counts, size_t index,
					       const char *base)
{
	const struct counter_event *event = &events->items[index];

	for (size_t i = 0; i < events->count; i++)
		if (event_is_partner(event, &events->items[i], base) &&
		    count_has_value(&counts[i]) && counts[i].value &&
		    counts_are_of_same(&counts[index], &counts[i]))
			return &counts[i];
	return NULL;
}

struct counter_metric counter_metric_find(const struct counter_events *events,
					  const struct count *counts, size_t index,
					  uint64_t span_ns)
{
	const struct counter_event *event = &events->items[index];
	const struct count *count = &counts[index], *partner = NULL;

	if (!count_has_value(count))
		return (struct counter_metric){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		if (strcmp(ratios[i].event, event->base))
			continue;
		partner = metric_find_partner(events, counts, index, ratios[i].of);
		if (partner)
			return (struct counter_metric){ (double)count->value * ratios[i].factor /
								(double)partner->value,
							ratios[i].unit };
	}
	if (count->status == COUNT_INCOMPLETE)
		return (struct counter_metric){ 0 };
	if (!span_ns)
		return (struct counter_metric){ 0 };
	if (event->is_time)
		return (struct counter_metric){ (double)count->value / (double)span_ns,
						"CPUs utilized" };
	return (struct counter_metric){ (double)count->value * 1e9 / (double)span_ns, "/s" };
}

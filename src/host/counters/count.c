/*
 * Arithmetic of counters: sums, differences and scaling of what was read, and ratios of events.
 */
#include "host/counters/count.h"

#include <string.h>

/* value * numerator / denominator, or as much as there is room for. */
static uint64_t number_scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	unsigned __int128 scaled = (unsigned __int128)value * numerator / denominator;

	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

static uint64_t number_below(uint64_t number, uint64_t other)
{
	return number > other ? number - other : 0;
}

void counter_sum_add(struct counter_sum *sum, const struct counter_reading *reading)
{
	sum->value += reading->value;
	sum->enabled_ns += reading->enabled_ns;
	sum->running_ns += reading->running_ns;
	if (!reading->running_ns)
		return;
	sum->heard_ns += reading->enabled_ns;
	sum->scaled +=
		reading->running_ns < reading->enabled_ns
			? number_scale(reading->value, reading->enabled_ns, reading->running_ns)
			: reading->value;
}

/* Where a counter is absent because the thread was on another kind of processor, the count is whole
 * as it is. */
struct count counter_sum_count(const struct counter_sum *sum, const struct counter_event *event)
{
	struct count count = { .status = COUNT_COUNTED, .value = sum->value, .share = 1 };

	if (!sum->enabled_ns)
		return count;
	if (!sum->running_ns)
		return (struct count){ .status = COUNT_NOT_COUNTED };
	if (sum->running_ns >= sum->enabled_ns)
		return count;
	count.share = (double)sum->running_ns / (double)sum->enabled_ns;
	if (event->is_partial)
		return count;
	/* An interval with inconsistent readings: there is nothing to scale. */
	if (!sum->heard_ns)
		return (struct count){ .status = COUNT_NOT_COUNTED };
	count.status = COUNT_SCALED;
	/* Threads that were never counted are assumed to have done the same as the others. */
	count.value = number_scale(sum->scaled, sum->enabled_ns, sum->heard_ns);
	return count;
}

struct counter_reading counter_reading_since(const struct counter_reading *now,
					     const struct counter_reading *before)
{
	return (struct counter_reading){
		.value = number_below(now->value, before->value),
		.enabled_ns = number_below(now->enabled_ns, before->enabled_ns),
		.running_ns = number_below(now->running_ns, before->running_ns),
	};
}

struct count count_rest(const struct count *whole, const struct count *part)
{
	if (!count_has_value(whole))
		return *whole;
	if (!count_has_value(part))
		return *part;
	return (struct count){ .status = MAX(whole->status, part->status),
			       .value = number_below(whole->value, part->value),
			       .share = MIN(whole->share, part->share) };
}

static const char *const status_names[COUNT_STATUSES] = {
	[COUNT_COUNTED] = "counted",
	[COUNT_SCALED] = "scaled",
	[COUNT_INCOMPLETE] = "incomplete",
	[COUNT_NOT_COUNTED] = "not counted",
	[COUNT_NOT_SUPPORTED] = "not supported",
};

const char *count_status_name(enum count_status status)
{
	return status_names[status];
}

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

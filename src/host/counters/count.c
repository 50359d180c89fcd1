/*
 * Arithmetic of counters: sums, differences and scaling of what was read.
 */
#include "host/counters/count.h"

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

/*
 * Runs on any thread that completes a set.
 */
#include "target/amd/counters/records.h"

#include "target/amd/hsa/queues.h"
#include "target/hooks/clock.h"

static struct event_counts counts_of(const struct counter_set *set)
{
	return (struct event_counts){ set->device->ids, set->values, set->device->id_count };
}

static bool is_whole(const struct counter_set *set)
{
	return set->value_count == set->device->id_count;
}

void counter_record_write(const struct counter_set *set)
{
	const struct amd_sink *ring = set->is_kernel ? events_ring() : NULL;
	struct counted_event event = { .flags = set->is_mixed ? COUNTER_MIXED : 0 };

	if (!ring || !clock_may_be_read())
		return;
	event.kernel = hsa_kernel_event(&set->command);
	event.kernel.times = set->times;
	if (!set->times.begin_ns) {
		event.flags |= COUNTER_UNTIMED;
		event.kernel.times = (struct device_times){ 0, 0, set->asked, clock_ticks() };
	}
	/* Acquire: another thread may have read the counts just now. */
	if (__atomic_load_n(&set->parts, __ATOMIC_ACQUIRE) & PART_COUNTS && is_whole(set))
		event.counts = counts_of(set);
	else
		event.flags |= COUNTER_INCOMPLETE;
	ring->counted(&event);
}

void plain_record_write(const struct known_queue *known, const struct counting_device *device,
			uint64_t begin, uint64_t end)
{
	const struct amd_sink *ring = events_ring();

	if (ring && end)
		ring->counted(
			&(struct counted_event){ .kernel = { .device = device->node,
							     .queue = known->number,
							     .times = { 0, 0, begin, end } },
						 .flags = COUNTER_OTHER | COUNTER_INCOMPLETE });
}

void window_record_write(const struct counter_set *set, uint64_t begin, uint64_t at)
{
	const struct amd_sink *ring = events_ring();

	if (ring && is_whole(set))
		ring->window(
			&(struct window_event){ set->device->node, begin, at, counts_of(set) });
}

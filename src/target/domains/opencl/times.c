/*
 * Begin and end of device work. Profiling queues are queried; the device's clock is aligned by two
 * facts about every command: it was queued during the application's call, and completed before the
 * completion was reported. Of other queues only the end is known: in an in-order queue, work begins
 * at the end of the command before, or when it was enqueued, whichever is later.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/clock.h"

struct device_times {
	uint64_t queued, begin, end; /* nanoseconds of the device's clock */
};

static bool query_times(const struct opencl_command *command, struct device_times *ret)
{
	const struct opencl_vendor *vendor = command->vendor;
	enum opencl_entry entry = ENTRY_clGetEventProfilingInfo;

	return vendor_query(vendor, entry, command->event, PROFILING_QUEUED, &ret->queued,
			    sizeof(ret->queued)) &&
	       vendor_query(vendor, entry, command->event, PROFILING_START, &ret->begin,
			    sizeof(ret->begin)) &&
	       vendor_query(vendor, entry, command->event, PROFILING_END, &ret->end,
			    sizeof(ret->end)) &&
	       ret->queued && ret->begin && ret->end >= ret->begin;
}

/* Moves the device's clock offset as little as necessary, and keeps it for the next command. */
static int64_t set_clock(const struct opencl_command *command, const struct device_times *times,
			 const struct clock_rate *rate, uint64_t now)
{
	int64_t *clock = device_clock(command->queue->device);
	int64_t offset = __atomic_load_n(clock, __ATOMIC_RELAXED);
	int64_t lowest = (int64_t)(clock_ns_at(rate, command->begin) - times->queued);
	int64_t queued = (int64_t)(clock_ns_at(rate, command->end) - times->queued);
	int64_t done = (int64_t)(clock_ns_at(rate, now) - times->end);

	offset = MAX(offset, lowest);
	offset = MIN(offset, queued);
	offset = MIN(offset, done);
	__atomic_store_n(clock, offset, __ATOMIC_RELAXED);
	return offset;
}

static struct opencl_times times_profiled(const struct opencl_command *command,
					  const struct device_times *times, uint64_t now)
{
	struct clock_rate rate = clock_now();
	int64_t offset = set_clock(command, times, &rate, now);
	uint64_t begin = clock_ticks_at(&rate, times->begin + (uint64_t)offset);
	uint64_t end = clock_ticks_at(&rate, times->end + (uint64_t)offset);

	/* Device work lies between the call's begin and the report, whatever the clocks say. */
	begin = MIN(begin, now);
	begin = MAX(begin, command->begin);
	end = MIN(end, now);
	return (struct opencl_times){ begin, MAX(begin, end) };
}

/* Raises the last end of the queue, which never decreases. */
static uint64_t push_end(struct opencl_queue *queue, uint64_t end)
{
	uint64_t last = __atomic_load_n(&queue->last_end, __ATOMIC_RELAXED);

	while (last < end && !__atomic_compare_exchange_n(&queue->last_end, &last, end, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return last;
}

static struct opencl_times times_estimated(const struct opencl_command *command, uint64_t now)
{
	uint64_t end = command->is_blocking ? MIN(now, command->end) : now;
	uint64_t begin = command->begin, last = 0;

	if (command->queue && command->queue->is_ordered)
		last = push_end(command->queue, end);
	begin = MAX(begin, last);
	return (struct opencl_times){ MIN(begin, end), end };
}

struct opencl_times times_of(const struct opencl_command *command, uint64_t now)
{
	struct device_times times;

	if (command->queue && command->queue->has_profiling && query_times(command, &times))
		return times_profiled(command, &times, now);
	return times_estimated(command, now);
}

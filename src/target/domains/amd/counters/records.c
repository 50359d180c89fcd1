/*
 * Runs on any thread that completes a set.
 */
#include "target/domains/amd/counters/records.h"

#include "target/domains/amd/counters/counters.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/queues.h"
#include "target/domains/work.h"

static void counts_write(struct writer *writer, const struct counter_set *set)
{
	struct record_count counts[RECORD_COUNTS_MAX];
	uint32_t count = set->device->id_count;

	for (uint32_t i = 0; i < count;) {
		unsigned filled = 0;

		for (; filled < RECORD_COUNTS_MAX && i < count; i++, filled++)
			counts[filled] =
				(struct record_count){ set->device->ids[i], set->values[i] };
		writer_counts(writer, counts, filled);
	}
}

/* Complete, with room for all of it: a part of the counts would pass for all of them. */
static bool is_whole(const struct writer *writer, const struct counter_set *set,
		     unsigned value_count)
{
	size_t count = set->device->id_count;
	size_t records = count / RECORD_COUNTS_MAX + 1;

	return set->value_count == count &&
	       writer_has_room(writer, record_call_size(value_count) +
					       records * sizeof(struct record_counts) +
					       count * sizeof(struct record_count));
}

void counter_record_write(const struct counter_set *set)
{
	const struct hsa_command *command = &set->command;
	bool is_timed = set->begin && set->end, has_counts;
	uint64_t now = clock_ticks();
	uint64_t values[] = {
		command->name,
		command->device,
		command->queue,
		0,
		command->thread,
		command->cause,
		command->dispatch,
		command->grid[0],
		command->grid[1],
		command->grid[2],
		command->group[0],
		command->group[1],
		command->group[2],
		command->private_bytes,
		command->group_bytes,
		(set->is_mixed ? COUNTER_MIXED : 0u) | (is_timed ? 0u : COUNTER_UNTIMED),
	};
	writer_seal seal;
	struct writer *writer = set->is_kernel && now ? writer_begin(&seal) : NULL;

	if (!writer)
		return;
	agents_name(writer, command->device);
	/* Acquire: another thread may have read the counts just now. */
	has_counts = __atomic_load_n(&set->parts, __ATOMIC_ACQUIRE) & PART_COUNTS &&
		     is_whole(writer, set, ARRAY_SIZE(values));
	if (!has_counts)
		values[ARRAY_SIZE(values) - 1] |= COUNTER_INCOMPLETE;
	if (work_write(writer, DOMAIN_COUNTER, is_timed ? set->begin : set->asked,
		       is_timed ? set->end : now, values) &&
	    has_counts)
		counts_write(writer, set);
	writer_end(writer, &seal);
}

void plain_record_write(const struct known_queue *known, const struct counting_device *device,
			uint64_t begin, uint64_t end)
{
	const uint64_t values[16] = {
		[1] = device->node, [2] = known->number, [15] = COUNTER_OTHER | COUNTER_INCOMPLETE
	};
	writer_seal seal;
	struct writer *writer = end ? writer_begin(&seal) : NULL;

	if (!writer)
		return;
	agents_name(writer, device->node);
	(void)work_write(writer, DOMAIN_COUNTER, begin, end, values);
	writer_end(writer, &seal);
}

void window_record_write(const struct counter_set *set, uint64_t begin, uint64_t at)
{
	const uint64_t values[] = { set->device->node, set->device->id_count };
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);

	if (!writer)
		return;
	agents_name(writer, set->device->node);
	if (is_whole(writer, set, ARRAY_SIZE(values)) &&
	    work_write(writer, DOMAIN_WINDOW, begin, at, values))
		counts_write(writer, set);
	writer_end(writer, &seal);
}

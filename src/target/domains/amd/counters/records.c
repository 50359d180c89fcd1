/*
 * On whichever thread learns of it.
 */
#include "target/domains/amd/counters/records.h"

#include "target/domains/amd/counters/counters.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/work.h"

static void counts_write(struct writer *writer, const struct counter_set *set)
{
	struct record_count counts[RECORD_COUNTS_MAX];
	uint32_t count = MIN(set->value_count, set->device->id_count);

	for (uint32_t i = 0; i < count;) {
		unsigned filled = 0;

		for (; filled < RECORD_COUNTS_MAX && i < count; i++, filled++)
			counts[filled] =
				(struct record_count){ set->device->ids[i], set->values[i] };
		writer_counts(writer, counts, filled);
	}
}

void counter_record_write(const struct counter_set *set)
{
	const struct hsa_command *command = &set->command;
	bool is_timed = set->begin && set->end, is_read = set->parts & PART_COUNTS;
	uint64_t now = clock_ticks();
	const uint64_t values[] = {
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
		(set->is_mixed ? COUNTER_MIXED : 0u) | (is_timed ? 0u : COUNTER_UNTIMED) |
			(is_read ? 0u : COUNTER_INCOMPLETE),
	};
	writer_seal seal;
	struct writer *writer = set->is_kernel && !set->is_gone && now ? writer_begin(&seal) : NULL;

	if (!writer)
		return;
	agents_name(writer, command->device);
	if (work_write(writer, DOMAIN_COUNTER, is_timed ? set->begin : set->asked,
		       is_timed ? set->end : now, values) &&
	    is_read)
		counts_write(writer, set);
	writer_end(writer, &seal);
}

/*
 * Runs on threads of tools.
 */
#include "target/amd/sinks/sdk/counters/evaluate.h"

#include "shared/counters/evaluate.h"
#include "target/amd/sinks/sdk/counters/extents.h"
#include "target/amd/sinks/sdk/counters/record_id.h"

#include <errno.h>

/* The values of one event, in the order in which they were read. */
static int event_values(struct evaluation *self, const struct catalog_node *node,
			struct counter_values *ret)
{
	const struct counted_values *values = self->context;

	if (values_make(self, values->count, ret))
		return -ENOSPC;
	ret->count = 0;
	for (uint32_t i = 0; i < values->count; i++)
		if (values->items[i].event == node->what)
			ret->items[ret->count++] =
				(struct counter_value){ values->items[i].place,
							(double)values->items[i].value };
	return ret->count ? 0 : -ENOENT;
}

/* False: a position that does not fit into a record id. */
static bool id_make(uint64_t counter, uint64_t place, uint64_t *ret)
{
	*ret = record_id(counter);
	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++) {
		unsigned number = place_in(place, i);

		if (number >> RECORD_ID_BITS)
			return false;
		*ret |= record_id_place(dimension_ids[i], number);
	}
	return true;
}

static bool records_add(struct counter_records *ret, uint64_t counter,
			const struct counter_values *values, struct sdk_handle agent)
{
	for (size_t i = 0; i < values->count; i++) {
		struct counter_record *record = &ret->items[ret->count];

		if (ret->count == ret->room)
			return false;
		*record =
			(struct counter_record){ .value = values->items[i].value, .agent = agent };
		if (!id_make(counter, values->items[i].place, &record->id))
			return false;
		ret->count++;
	}
	return values->count;
}

bool counters_evaluate(const struct counter_config *config, const struct counted_values *counted,
		       void *memory, struct counter_records *ret)
{
	struct evaluation self = { .choices = catalog_list(config->catalog, CATALOG_CHOICES),
				   .find = event_values,
				   .context = counted,
				   .memory = memory,
				   .room = EVALUATION_BYTES / sizeof(*self.memory) };

	for (uint32_t i = 0; i < config->counter_count; i++) {
		const struct catalog_counter *counter =
			counters_find(config->catalog, config->counters[i]);
		struct counter_values values;

		self.nodes =
			(const struct catalog_node *)catalog_list(config->catalog, CATALOG_NODES) +
			counter->first;
		self.used = 0;
		if (node_evaluate(&self, counter->count - 1, &values) ||
		    !records_add(ret, config->counters[i], &values, config->agent))
			return false;
	}
	return true;
}

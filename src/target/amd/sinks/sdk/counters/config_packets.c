/*
 * Runs on threads of tools and of limpet, with the device turn held (device_turn.h).
 */
#include "target/amd/sinks/sdk/counters/config_packets.h"

#include "target/amd/hsa/functions.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/extents.h"

static const struct catalog_event *event_at(const struct counter_config *config, uint32_t index)
{
	return (const struct catalog_event *)catalog_list(config->catalog, CATALOG_EVENTS) +
	       config->events[index];
}

static bool event_add(struct config_packets *self, uint32_t index, struct packet_events *events)
{
	const struct catalog_event *from = event_at(&self->config, index);
	struct pmc_profile profile = { .agent = self->agent };
	struct pmc_block block = { .name = catalog_text(self->config.catalog, from->block) };

	if (self->library->get_info(&profile, PMC_BLOCK_ID, &block) || !block.instances)
		return false;
	self->blocks[index] = block.id;
	for (uint32_t i = 0; i < block.instances; i++) {
		struct pmc_event event = { i, from->event, from->flags, block.id };
		bool is_valid = false;

		if (events->count == PACKET_EVENTS_MAX ||
		    self->library->is_valid(self->agent, &event, &is_valid) || !is_valid)
			return false;
		events->items[events->count++] = event;
	}
	return true;
}

static int events_fill(struct config_packets *self, struct packet_events *events)
{
	int r = SDK_SUCCESS;

	if (!packet_sets_enter())
		return SDK_FINALIZED;
	for (uint32_t i = 0; !r && i < self->config.event_count; i++)
		if (!event_add(self, i, events))
			r = SDK_AQL_NO_EVENT_COORD;
	packet_sets_leave();
	return r;
}

int config_packets_prepare(struct config_packets *ret, const struct counter_config *config,
			   struct packet_events *events)
{
	int r;

	ret->config = *config;
	events->count = 0;
	ret->library = extents_library(config->catalog, config->device, &ret->agent);
	if (!ret->library)
		return SDK_NOT_AVAILABLE;
	r = events_fill(ret, events);
	return r ? r : events->count ? SDK_SUCCESS : SDK_NO_HARDWARE_COUNTERS;
}

/* A runtime that has not been initialized knows no agent. */
int config_packets_make(const struct config_packets *self, const struct hsa_functions *hsa,
			const struct packet_events *events, struct packet_set *ret)
{
	struct pmc_profile profile = { self->agent, events->items, events->count };
	struct packet_memory memory = { hsa_host_pool(hsa), hsa->pool_allocate, hsa->pool_free,
					hsa->allow_access };

	ret->agent = hsa_agent_of_node(hsa, self->config.device->node);
	if (!ret->agent || !memory.pool)
		return SDK_HSA_NOT_LOADED;
	packet_sets_use(self->library, &memory);
	return packet_set_make(ret, profile) ? SDK_SUCCESS : SDK_EXCEEDS_HW_LIMIT;
}

static int place_add(int position, int id, int extent, int coordinate, const char *name, void *data)
{
	unsigned dimension = dimension_of_name(name);
	uint64_t *place = data;

	(void)position, (void)id, (void)extent;
	if (dimension < CATALOG_DIMENSIONS)
		*place |= place_of(dimension, (unsigned)coordinate);
	return 0;
}

/* The index of the event in the config; the number of events: none. */
static uint32_t event_of(const struct config_packets *self, const struct pmc_event *event)
{
	uint32_t i = 0;

	for (; i < self->config.event_count; i++) {
		const struct catalog_event *from = event_at(&self->config, i);

		if (from->event == event->event && from->flags == event->flags &&
		    self->blocks[i] == event->block)
			break;
	}
	return i;
}

struct reading {
	const struct config_packets *packets;
	struct counted_values *values;
};

static int value_note(struct pmc_event event, uint64_t sample, uint64_t value, void *data)
{
	const struct reading *reading = data;
	const struct config_packets *self = reading->packets;
	struct counted_values *values = reading->values;
	uint32_t index = event_of(self, &event);
	uint64_t place = 0;

	values->is_whole &= values->count < PACKET_VALUES_MAX && index < self->config.event_count &&
			    !self->library->place(self->agent, event, sample, place_add, &place);
	if (!values->is_whole)
		return PACKET_STOP_VISIT;
	values->items[values->count++] =
		(struct counted_value){ place, value, self->config.events[index] };
	return 0;
}

bool config_packets_read(const struct config_packets *self, const struct packet_set *set,
			 struct counted_values *ret)
{
	struct reading reading = { self, ret };

	ret->count = 0;
	ret->is_whole = true;
	return packet_set_read(set, value_note, &reading) && ret->is_whole && ret->count;
}

/*
 * On threads of tools; what calls the runtime, or reads its memory, inside the gate.
 */
#include "target/sdk/counters/packets.h"

#include "target/sdk/counters/extents.h"
#include "target/sdk/status.h"

#include <string.h>

#define EXECUTABLE_FLAG 4u

static int memory_allocate(void **ret, uint64_t size, uint32_t flags, void *data)
{
	const struct counter_packets *self = data;
	int r = self->hsa->pool_allocate(self->pool, size, EXECUTABLE_FLAG, ret);

	(void)flags;
	if (r)
		return r;
	r = self->hsa->allow_access(1, &self->hsa_agent, NULL, *ret);
	if (!r)
		memset(*ret, 0, size);
	return r;
}

static void memory_free(void *memory, void *data)
{
	const struct counter_packets *self = data;

	(void)self->hsa->pool_free(memory);
}

static int memory_copy(void *to, const void *from, size_t size, void *data)
{
	(void)data;
	memcpy(to, from, size);
	return 0;
}

static const struct catalog_event *event_at(const struct counter_config *config, uint32_t index)
{
	return (const struct catalog_event *)catalog_list(config->catalog, CATALOG_EVENTS) +
	       config->events[index];
}

static bool block_find(const struct counter_packets *self, const struct catalog_event *event,
		       struct pmc_block *ret)
{
	struct pmc_profile profile = { .agent = self->agent };

	*ret = (struct pmc_block){ .name = catalog_text(self->config->catalog, event->block) };
	return !self->library->get_info(&profile, PMC_BLOCK_ID, ret) && ret->instances;
}

/* Events as aqlprofile wants them: one for each instance of a block. */
static bool event_add(struct counter_packets *self, const struct catalog_event *from)
{
	struct pmc_block block;

	if (!block_find(self, from, &block))
		return false;
	for (uint32_t i = 0; i < block.instances; i++) {
		struct pmc_event event = { i, from->event, from->flags, block.id };
		bool is_valid = false;

		if (self->event_count == PACKET_EVENTS_MAX ||
		    self->library->is_valid(self->agent, &event, &is_valid) || !is_valid)
			return false;
		self->events[self->event_count++] = event;
	}
	return true;
}

int packets_prepare(struct counter_packets *ret, const struct hsa_functions *hsa,
		    const struct counter_config *config)
{
	ret->hsa = hsa;
	ret->config = config;
	ret->event_count = ret->count = 0;
	ret->library = extents_library(config->catalog, config->device, &ret->agent);
	if (!ret->library)
		return SDK_NOT_AVAILABLE;
	for (uint32_t i = 0; i < config->event_count; i++)
		if (!event_add(ret, event_at(config, i)))
			return SDK_AQL_NO_EVENT_COORD;
	return ret->event_count ? SDK_SUCCESS : SDK_NO_HARDWARE_COUNTERS;
}

/* A runtime that has not begun knows no agent. */
int packets_make(struct counter_packets *packets)
{
	struct pmc_profile profile = { packets->agent, packets->events, packets->event_count };

	packets->hsa_agent = hsa_agent_of_node(packets->hsa, packets->config->device->node);
	packets->pool = hsa_host_pool(packets->hsa);
	if (!packets->hsa_agent || !packets->pool)
		return SDK_HSA_NOT_LOADED;
	return packets->library->create(&packets->handle, &packets->packets, profile,
					memory_allocate, memory_free, memory_copy, packets)
		       ? SDK_EXCEEDS_HW_LIMIT
		       : SDK_SUCCESS;
}

void packets_free(struct counter_packets *packets)
{
	if (packets->library)
		packets->library->give_back(packets->handle);
	packets->library = NULL;
}

static int place_add(int position, int id, int extent, int coordinate, const char *name, void *data)
{
	unsigned dimension = dimension_of_name(name);
	uint64_t *place = data;

	(void)position, (void)id, (void)extent;
	if (dimension < CATALOG_DIMENSIONS)
		*place |= (uint64_t)(uint8_t)coordinate << (PLACE_BITS * dimension);
	return 0;
}

/* Which of the config's events; their number: none. */
static uint32_t event_of(const struct counter_packets *self, const struct pmc_event *event)
{
	uint32_t i = 0;

	for (; i < self->config->event_count; i++) {
		const struct catalog_event *from = event_at(self->config, i);
		struct pmc_block block;

		if (from->event == event->event && from->flags == event->flags &&
		    block_find(self, from, &block) && block.id == event->block)
			break;
	}
	return i;
}

static int value_note(struct pmc_event event, uint64_t sample, uint64_t value, void *data)
{
	struct counter_packets *self = data;
	uint32_t index = event_of(self, &event);
	uint64_t place = 0;

	if (self->count == PACKET_VALUES_MAX || index == self->config->event_count ||
	    self->library->place(self->agent, event, sample, place_add, &place))
		return 1;
	self->values[self->count++] =
		(struct counted_value){ place, value, self->config->events[index] };
	return 0;
}

bool packets_read(struct counter_packets *packets)
{
	packets->count = 0;
	return !packets->library->iterate(packets->handle, value_note, packets);
}

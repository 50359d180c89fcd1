/*
 * Which counters an agent has, and what ids of records say.  On threads of tools.
 */
#include "target/sdk/counters/info.h"
#include "target/sdk/counters/record_id.h"
#include "target/sdk/counters/store.h"
#include "target/sdk/status.h"

typedef int counters_function(struct sdk_handle agent, struct sdk_handle *counters, size_t count,
			      void *data);

SDK_EXPORT int rocprofiler_iterate_agent_supported_counters(struct sdk_handle agent,
							    counters_function *callback,
							    void *data);
SDK_EXPORT int rocprofiler_query_record_counter_id(uint64_t id, struct sdk_handle *ret);
SDK_EXPORT int rocprofiler_query_record_dimension_position(uint64_t id, uint64_t dimension,
							   size_t *ret);

/* Ids of all counters, in their order. */
static struct {
	const struct catalog *catalog;
	struct sdk_handle *ids;
} listed;

void listing_forget(void)
{
	listed.catalog = NULL;
}

/* In one's turn; NULL: no memory. */
static struct sdk_handle *ids_make(const struct catalog *catalog)
{
	uint32_t count = catalog->lists[CATALOG_COUNTERS].count;
	struct sdk_handle *ids;

	if (listed.catalog == catalog)
		return listed.ids;
	ids = counters_memory(count * sizeof(*ids));
	for (uint32_t i = 0; ids && i < count; i++)
		ids[i].handle = i + 1;
	listed.ids = ids;
	listed.catalog = ids ? catalog : NULL;
	return ids;
}

static struct sdk_handle *device_ids(const struct catalog *catalog,
				     const struct catalog_device *device)
{
	struct sdk_handle *ids;

	if (!counters_enter())
		return NULL;
	ids = ids_make(catalog);
	counters_leave();
	return ids ? ids + device->first : NULL;
}

int rocprofiler_iterate_agent_supported_counters(struct sdk_handle agent,
						 counters_function *callback, void *data)
{
	const struct catalog *catalog = counters_catalog();
	const struct catalog_device *device;
	struct sdk_handle *ids;

	if (!callback)
		return SDK_INVALID_ARGUMENT;
	if (!counters_know_agent(agent))
		return SDK_AGENT_NOT_FOUND;
	device = catalog ? counters_device(catalog, agent) : NULL;
	if (!device || !device->count)
		return SDK_AGENT_ARCH_NOT_SUPPORTED;
	ids = device_ids(catalog, device);
	return ids ? callback(agent, ids, device->count, data) : SDK_OUT_OF_RESOURCES;
}

int rocprofiler_query_record_counter_id(uint64_t id, struct sdk_handle *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	ret->handle = id >> RECORD_ID_SHIFT;
	return SDK_SUCCESS;
}

int rocprofiler_query_record_dimension_position(uint64_t id, uint64_t dimension, size_t *ret)
{
	if (!ret || dimension > RECORD_ID_DIMENSIONS)
		return SDK_INVALID_ARGUMENT;
	*ret = dimension ? id >> ((dimension - 1) * RECORD_ID_BITS) & ((1u << RECORD_ID_BITS) - 1)
			 : id & (((uint64_t)1 << RECORD_ID_SHIFT) - 1);
	return SDK_SUCCESS;
}

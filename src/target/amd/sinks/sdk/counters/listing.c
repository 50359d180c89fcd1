/*
 * Lists an agent's counters, and decodes record ids. Runs on threads of tools.
 */
#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/record_id.h"
#include "target/amd/sinks/sdk/counters/store.h"

#include <sys/mman.h>

typedef int counters_function(struct sdk_handle agent, struct sdk_handle *counters, size_t count,
			      void *data);

SDK_EXPORT int rocprofiler_iterate_agent_supported_counters(struct sdk_handle agent,
							    counters_function *callback,
							    void *data);
SDK_EXPORT int rocprofiler_query_record_counter_id(uint64_t id, struct sdk_handle *ret);
SDK_EXPORT int rocprofiler_query_record_dimension_position(uint64_t id, uint64_t dimension,
							   size_t *ret);

/* Allocates the list for this call: the tool may sort it, or write into it. */
static int ids_tell(const struct catalog_device *device, struct sdk_handle agent,
		    counters_function *callback, void *data)
{
	uint32_t count = device_count(device);
	size_t size = count * sizeof(struct sdk_handle);
	long memory =
		raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sdk_handle *ids = (struct sdk_handle *)memory;
	int r;

	if (memory < 0 && memory > -4096)
		return SDK_OUT_OF_RESOURCES;
	for (uint32_t i = 0; i < count; i++)
		ids[i].handle = device->first + i + 1;
	r = callback(agent, ids, count, data);
	raw2(SYS_munmap, memory, size);
	return r;
}

int rocprofiler_iterate_agent_supported_counters(struct sdk_handle agent,
						 counters_function *callback, void *data)
{
	const struct catalog *catalog = counters_catalog();
	const struct catalog_device *device;

	if (!callback)
		return SDK_INVALID_ARGUMENT;
	if (!counters_know_agent(agent))
		return SDK_AGENT_NOT_FOUND;
	device = catalog ? counters_device(catalog, agent) : NULL;
	return device && device_count(device) ? ids_tell(device, agent, callback, data)
					      : SDK_AGENT_ARCH_NOT_SUPPORTED;
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

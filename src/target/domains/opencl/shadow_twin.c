/*
 * Creates a profiling queue like the application's. Runs inside application calls.
 */
#include "target/domains/opencl/shadow.h"

#define PROFILES       2u
#define PROPERTIES_MAX 16u

typedef opencl_object create_queue(opencl_object context, opencl_object device, uint64_t properties,
				   int32_t *ret_error);
typedef opencl_object create_queue_with(opencl_object context, opencl_object device,
					const uint64_t *properties, int32_t *ret_error);

bool twin_is_possible(const struct opencl_vendor *vendor)
{
	static const enum opencl_entry needed[] = {
		ENTRY_clEnqueueMarkerWithWaitList,
		ENTRY_clEnqueueBarrierWithWaitList,
		ENTRY_clSetEventCallback,
		ENTRY_clRetainCommandQueue,
		ENTRY_clReleaseCommandQueue,
		ENTRY_clReleaseEvent,
		ENTRY_clRetainEvent,
		ENTRY_clFlush,
		ENTRY_clFinish,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(needed); i++)
		if (!vendor->functions[needed[i]])
			return false;
	return true;
}

static void add_property(uint64_t *properties, uint64_t name, uint64_t value)
{
	unsigned at = 0;

	while (properties[at] && properties[at] != name)
		at += 2;
	if (at + 2 > 2 * PROPERTIES_MAX)
		return;
	properties[at] = name;
	properties[at + 1] |= value;
}

/* The queue's properties, as far as the driver returns these, and profiling. */
static void query_properties(const struct opencl_vendor *vendor, opencl_object queue,
			     uint64_t *properties)
{
	static const enum opencl_info hints[] = { QUEUE_PRIORITY, QUEUE_THROTTLE };
	const enum opencl_entry ask = ENTRY_clGetCommandQueueInfo;
	uint64_t bits = 0;

	if (!vendor_query(vendor, ask, queue, QUEUE_PROPERTIES_ARRAY, properties,
			  2 * PROPERTIES_MAX * sizeof(*properties)))
		properties[0] = 0;
	for (unsigned i = 0; !properties[0] && i < ARRAY_SIZE(hints); i++) {
		uint32_t value = 0;

		if (vendor_query(vendor, ask, queue, hints[i], &value, sizeof(value)) && value)
			add_property(properties, hints[i], value);
	}
	vendor_query(vendor, ask, queue, QUEUE_PROPERTIES, &bits, sizeof(bits));
	add_property(properties, QUEUE_PROPERTIES, bits | PROFILES);
}

opencl_object twin_make(const struct opencl_vendor *vendor, opencl_object queue,
			opencl_object context, opencl_object device)
{
	create_queue_with *with =
		(create_queue_with *)vendor->functions[ENTRY_clCreateCommandQueueWithProperties];
	create_queue *plain = (create_queue *)vendor->functions[ENTRY_clCreateCommandQueue];
	uint64_t properties[2 * PROPERTIES_MAX + 1] = { 0 };
	int32_t error = 0;
	opencl_object made = 0;

	query_properties(vendor, queue, properties);
	if (with)
		made = with(context, device, properties, &error);
	else if (plain && properties[0] == QUEUE_PROPERTIES && !properties[2])
		made = plain(context, device, properties[1], &error);
	return error ? 0 : made;
}

static uint32_t object_references(const struct opencl_vendor *vendor, enum opencl_entry entry,
				  opencl_object object, uint32_t name)
{
	uint32_t count = 0;

	vendor_query(vendor, entry, object, name, &count, sizeof(count));
	return count;
}

uint32_t context_references(const struct opencl_vendor *vendor, opencl_object context)
{
	return object_references(vendor, ENTRY_clGetContextInfo, context, CONTEXT_REFERENCES);
}

uint32_t queue_references(const struct opencl_vendor *vendor, opencl_object queue)
{
	return object_references(vendor, ENTRY_clGetCommandQueueInfo, queue, QUEUE_REFERENCES);
}

/*
 * Lists counters, device by device.
 */
#include "host/counters/amd/listing.h"

#include "host/core/text/print.h"
#include "host/counters/amd/devices.h"

#include <string.h>

static void device_visit(const struct amd_counters *counters, const struct counter_device *device,
			 counter_visitor *visit, void *context)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->items[i].architecture, device->architecture))
			visit(device->node, &counters->items[i], context);
}

int amd_counters_visit(const char *folder, counter_visitor *visit, void *context, struct err *err)
{
	struct amd_counters counters = { 0 };
	struct counter_devices devices;
	int r = counter_devices_read(&devices, err);

	if (!r)
		r = amd_counters_load(&counters, folder, err);
	for (size_t i = 0; !r && i < devices.count; i++)
		device_visit(&counters, &devices.items[i], visit, context);
	counter_devices_done(&devices);
	amd_counters_done(&counters);
	return r;
}

struct counter_listing {
	FILE *out;
	unsigned node; /* the last one; UINT32_MAX: none yet */
};

static void listing_print(unsigned node, const struct amd_counter *counter, void *context)
{
	struct counter_listing *self = context;

	if (node != self->node)
		print(self->out, "\nGPU: node %u, %s\n", node, counter->architecture);
	self->node = node;
	print(self->out, "\n  Name: %s\n  Description: %s\n", counter->name, counter->description);
	if (counter->block)
		print(self->out, "  Block: %s\n", counter->block);
	else
		print(self->out, "  Expression: %s\n", counter->expression);
}

int amd_counters_list(FILE *out, const char *folder, struct err *err)
{
	struct counter_listing self = { out, UINT32_MAX };

	return amd_counters_visit(folder, listing_print, &self, err);
}

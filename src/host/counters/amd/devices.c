/*
 * Reads the driver's topology: nodes/N/properties, lines "name number"; lists counters, device by
 * device.
 */
#include "host/counters/amd/devices.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOPOLOGY       "/sys/class/kfd/kfd/topology"
#define PROPERTIES_MAX ((size_t)64 << 10)
#define NODES_MAX      256u

uint64_t counter_property(const char *properties, const char *name)
{
	uint64_t value = 0;

	return device_property_find(properties, text_of(name), &value) ? value : 0;
}

static uint32_t shape_number(const struct counter_device *device, const char *name, uint32_t least)
{
	uint32_t number = (uint32_t)counter_property(device->properties, name);

	return MAX(number, least);
}

struct counter_shape counter_device_shape(const struct counter_device *device)
{
	uint32_t arrays = shape_number(device, "simd_arrays_per_engine", 1);

	return (struct counter_shape){
		.xccs = shape_number(device, "num_xcc", 1),
		.engines = shape_number(device, "array_count", 0) / arrays,
		.units = shape_number(device, "simd_count", 0) /
			 shape_number(device, "simd_per_cu", 1),
		.arrays_per_engine = arrays,
		.domain = shape_number(device, "domain", 0),
		.location = shape_number(device, "location_id", 0),
	};
}

static bool is_identity(struct text name)
{
	static const char *const names[] = { "location_id",     "domain",    "drm_render_minor",
					     "hive_id",         "unique_id", "simd_id_base",
					     "cpu_core_id_base" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_equals(name, names[i]))
			return true;
	return false;
}

bool counter_devices_match(const struct counter_device *one, const struct counter_device *other)
{
	struct text rest = text_of(one->properties), line;

	while (text_take_line(&rest, &line)) {
		struct text name = { line.at, line.at };
		uint64_t value = 0, others = 0;

		while (name.end < line.end && *name.end != ' ' && *name.end != '=')
			name.end++;
		if (is_identity(name) || !device_property_find(one->properties, name, &value))
			continue;
		if (!device_property_find(other->properties, name, &others) || value != others)
			return false;
	}
	return true;
}

/* 90402 is gfx942, 110001 is gfx1101. */
static void architecture_name(uint64_t version, char *ret, size_t room)
{
	print_into(ret, room, "gfx%u%x%x", (unsigned)(version / 10000),
		   (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

/* 0: unknown. */
static uint32_t gpu_id_read(const char *folder, unsigned node)
{
	char path[512], *text;
	struct text rest;
	uint64_t id = 0;
	size_t size;

	print_into(path, sizeof(path), "%s/nodes/%u/gpu_id", folder, node);
	if (text_read_file(path, PROPERTIES_MAX, &text, &size))
		return 0;
	rest = text_of(text);
	if (!text_take_number(&rest, 10, &id))
		id = 0;
	free(text);
	return (uint32_t)id;
}

static void device_add(struct counter_devices *devices, unsigned node, char *properties)
{
	uint64_t version = counter_property(properties, "gfx_target_version");
	struct counter_device *device;

	if (!version || !counter_property(properties, "simd_count") ||
	    devices->count == COUNTER_DEVICES_MAX) {
		devices->beyond += devices->count == COUNTER_DEVICES_MAX && version;
		free(properties);
		return;
	}
	device = &devices->items[devices->count];
	device->node = node;
	architecture_name(version, device->architecture, sizeof(device->architecture));
	device->properties = properties;
	devices->texts[devices->count++] = properties;
}

int counter_devices_read(struct counter_devices *ret, struct err *err)
{
	const char *model = secure_getenv("HSA_MODEL_TOPOLOGY");
	char path[512], *text;
	size_t size;
	int r;

	*ret = (struct counter_devices){ .is_model = model && model[0] };
	for (unsigned i = 0; i < NODES_MAX; i++) {
		const char *folder = ret->is_model ? model : TOPOLOGY;
		size_t before = ret->count;

		print_into(path, sizeof(path), "%s/nodes/%u/properties", folder, i);
		r = text_read_file(path, PROPERTIES_MAX, &text, &size);
		if (r == -ENOENT)
			break;
		if (!r) /* another container's cannot be read */
			device_add(ret, i, text);
		if (ret->count > before)
			ret->items[before].gpu_id = gpu_id_read(folder, i);
	}
	if (ret->count)
		return 0;
	err_set(err, -ENOENT, "there is no AMD device on this machine");
	err_why(err, "the driver (amdgpu) tells of its devices in " TOPOLOGY ", where none is");
	err_fix(err, "where limpet runs in a container: show it the host's /sys");
	return err_exit(err, EXIT_USAGE);
}

void counter_devices_done(struct counter_devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		free(devices->texts[i]);
	devices->count = 0;
}

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

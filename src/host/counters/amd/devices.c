/*
 * Reads the driver's topology: nodes/N/properties, lines "name number".
 */
#include "host/counters/amd/devices.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOPOLOGY       "/sys/class/kfd/kfd/topology"
#define PROPERTIES_MAX ((size_t)64 << 10)

uint64_t counter_property(const char *properties, const char *name)
{
	struct text rest = text_of(properties), line, word;
	uint64_t value = 0;

	while (text_take_line(&rest, &line))
		if (text_take_word(&line, &word) && text_equals(word, name)) {
			text_skip_blanks(&line);
			return text_take_number(&line, 10, &value) ? value : 0;
		}
	return 0;
}

/* 90402 is gfx942, 110001 is gfx1101. */
static void architecture_name(uint64_t version, char *ret, size_t room)
{
	print_into(ret, room, "gfx%u%x%x", (unsigned)(version / 10000),
		   (unsigned)(version / 100 % 100), (unsigned)(version % 100));
}

static void device_add(struct counter_devices *devices, unsigned node, char *properties)
{
	uint64_t version = counter_property(properties, "gfx_target_version");
	struct counter_device *device = &devices->items[devices->count];

	if (!version || !counter_property(properties, "simd_count")) {
		free(properties);
		return;
	}
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

	*ret = (struct counter_devices){ 0 };
	for (unsigned i = 0; i < COUNTER_DEVICES_MAX; i++) {
		print_into(path, sizeof(path), "%s/nodes/%u/properties",
			   model && model[0] ? model : TOPOLOGY, i);
		r = text_read_file(path, PROPERTIES_MAX, &text, &size);
		if (r == -ENOENT)
			break;
		if (!r) /* another container's cannot be read */
			device_add(ret, i, text);
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

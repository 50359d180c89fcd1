/*
 * Answers from ROCm's definitions and the driver's topology, read on the first query.
 */
#include "avail.h"

#include "host/core/text/print.h"
#include "host/counters/amd/devices.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define EXPORT       __attribute__((visibility("default")))
#define DEVICE_SHIFT 32u
#define INFO_SIZE    160u
#define GPU          2
#define CHECKED_MOST 64u

static struct {
	pthread_once_t once;
	struct amd_counters counters;
	struct counter_devices devices;
	char infos[COUNTER_DEVICES_MAX][INFO_SIZE];
} known = { .once = PTHREAD_ONCE_INIT };

static void device_describe(size_t index)
{
	const struct counter_device *device = &known.devices.items[index];

	print_into(known.infos[index], INFO_SIZE,
		   "{\"type\": %d, \"name\": \"%s\", \"node_id\": %u, \"gpu_id\": %u}", GPU,
		   device->architecture, device->node, device->gpu_id);
}

static void known_read(void)
{
	struct err err = { 0 };
	int r = counter_devices_read(&known.devices, &err);

	if (!r) {
		r = amd_counters_load(&known.counters, /* folder */ NULL, &err);
		if (r)
			counter_devices_done(&known.devices);
	}
	if (r)
		print(stderr, "librocprofv3-list-avail: %s\n  why: %s\n  fix: %s\n", err.what,
		      err.why, err.fix);
	for (size_t i = 0; i < known.devices.count; i++)
		device_describe(i);
}

/* Devices are numbered from 1; NULL: there is none of this number. */
static const struct counter_device *device_find(uint64_t agent)
{
	pthread_once(&known.once, known_read);
	return agent && agent <= known.devices.count ? &known.devices.items[agent - 1] : NULL;
}

/* A counter's number: the device's, and its place in the definitions. */
static const struct amd_counter *counter_find(uint64_t counter)
{
	uint64_t index = counter & UINT32_MAX;

	return device_find(counter >> DEVICE_SHIFT) && index < known.counters.count
		       ? &known.counters.items[index]
		       : NULL;
}

static bool is_of(const struct counter_device *device, size_t index)
{
	return !strcmp(known.counters.items[index].architecture, device->architecture);
}

EXPORT size_t get_number_of_agents(void)
{
	(void)device_find(0);
	return known.devices.count;
}

EXPORT void agent_handles(uint64_t *handles, size_t count)
{
	for (size_t i = 0; i < count && i < get_number_of_agents(); i++)
		handles[i] = i + 1;
}

EXPORT void agent_info(uint64_t agent, const char **ret)
{
	*ret = device_find(agent) ? known.infos[agent - 1] : "{}";
}

EXPORT size_t get_number_of_agent_counters(uint64_t agent)
{
	const struct counter_device *device = device_find(agent);
	size_t count = 0;

	for (size_t i = 0; device && i < known.counters.count; i++)
		count += is_of(device, i);
	return count;
}

EXPORT void agent_counter_handles(uint64_t *handles, uint64_t agent, size_t count)
{
	const struct counter_device *device = device_find(agent);
	size_t at = 0;

	for (size_t i = 0; device && at < count && i < known.counters.count; i++)
		if (is_of(device, i))
			handles[at++] = agent << DEVICE_SHIFT | i;
}

EXPORT void counter_info(uint64_t counter, const char **ret_name, const char **ret_description,
			 uint8_t *ret_is_derived, uint8_t *ret_is_constant)
{
	const struct amd_counter *found = counter_find(counter);

	if (!found)
		return;
	*ret_name = found->name;
	*ret_description = found->description;
	*ret_is_derived = found->expression != NULL;
	*ret_is_constant = 0;
}

EXPORT void counter_block(uint64_t counter, const char **ret)
{
	const struct amd_counter *found = counter_find(counter);

	if (found)
		*ret = found->block ? found->block : "";
}

EXPORT void counter_expression(uint64_t counter, const char **ret)
{
	const struct amd_counter *found = counter_find(counter);

	if (found)
		*ret = found->expression ? found->expression : "";
}

EXPORT size_t get_number_of_dimensions(uint64_t counter)
{
	(void)counter;
	return 0;
}

EXPORT void counter_dimension_ids(uint64_t counter, uint64_t *ids, size_t count)
{
	(void)counter;
	(void)ids;
	(void)count;
}

EXPORT void counter_dimension(uint64_t counter, uint64_t dimension, const char **ret_name,
			      uint32_t *ret_instances)
{
	(void)counter;
	(void)dimension;
	*ret_name = "";
	*ret_instances = 0;
}

EXPORT bool is_counter_set(const uint64_t *counters, uint64_t agent, size_t count)
{
	const char *names[CHECKED_MOST];
	const struct plan_devices devices = { known.devices.items, known.devices.count, agent - 1 };
	struct counter_plan plan;
	struct err err = { 0 };
	bool is_one_pass;

	if (!device_find(agent) || count > CHECKED_MOST)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct amd_counter *found = counter_find(counters[i]);

		if (!found)
			return false;
		names[i] = found->name;
	}
	if (counter_plan_make(&plan, &known.counters, &devices, names, count, &err))
		return false;
	is_one_pass = !plan.unknown[0] && !counter_plan_check(&plan, &err);
	counter_plan_done(&plan);
	return is_one_pass;
}

EXPORT size_t get_number_of_pc_sample_configs(uint64_t agent)
{
	(void)agent;
	return 0;
}

EXPORT void pc_sample_config(uint64_t agent, uint64_t index, uint64_t *method, uint64_t *unit,
			     uint64_t *min_interval, uint64_t *max_interval, uint64_t *flags)
{
	(void)agent;
	(void)index;
	*method = *unit = *min_interval = *max_interval = *flags = 0;
}

/*
 * Runs on threads of tools, also inside their callbacks.
 */
#include "target/amd/sinks/sdk/counters/configs.h"

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"

#define CONFIGS_MAX 256u
#define OF_ANYBODY  (-1)
#define OF_NOBODY   (-2)

static struct counter_config configs[CONFIGS_MAX];
static uint64_t lives; /* makes each handle unique */

const struct counter_config *config_find(struct sdk_handle id)
{
	const struct counter_config *config = &configs[id.handle % CONFIGS_MAX];

	/* Acquire: pairs with config_take(). */
	return id.handle && __atomic_load_n(&config->handle, __ATOMIC_ACQUIRE) == id.handle ? config
											    : NULL;
}

bool config_copy(struct sdk_handle id, struct counter_config *ret)
{
	const struct counter_config *config = config_find(id);

	if (!config)
		return false;
	*ret = *config;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return config_find(id);
}

uint64_t config_find_newest(struct sdk_handle agent, int tool)
{
	uint64_t newest = 0;

	for (unsigned i = 0; i < CONFIGS_MAX; i++) {
		uint64_t handle = __atomic_load_n(&configs[i].handle, __ATOMIC_ACQUIRE);

		if (handle && configs[i].agent.handle == agent.handle &&
		    (configs[i].tool == OF_ANYBODY || configs[i].tool == tool))
			newest = MAX(newest, handle);
	}
	return newest;
}

void configs_disown(int tool)
{
	for (unsigned i = 0; i < CONFIGS_MAX; i++)
		if (configs[i].tool == tool)
			configs[i].tool = OF_NOBODY;
}

void configs_forget(void)
{
	for (unsigned i = 0; i < CONFIGS_MAX; i++)
		__atomic_store_n(&configs[i].handle, 0, __ATOMIC_RELEASE);
}

static bool config_has(const struct counter_config *config, uint64_t id)
{
	for (uint32_t i = 0; i < config->counter_count; i++)
		if (config->counters[i] == id)
			return true;
	return false;
}

static const struct catalog_event *event_at(const struct counter_config *config, uint32_t index)
{
	return (const struct catalog_event *)catalog_list(config->catalog, CATALOG_EVENTS) + index;
}

/* More events of a block than it counts at once do not fit. A limit unknown here shows when packets
 * are made. */
static int event_add(struct counter_config *config, uint32_t event)
{
	const struct catalog_event *added = event_at(config, event);
	uint32_t used = 1;

	for (uint32_t i = 0; i < config->event_count; i++) {
		if (config->events[i] == event)
			return SDK_SUCCESS;
		used += event_at(config, config->events[i])->block == added->block;
	}
	if ((added->limit && used > added->limit) || config->event_count == CONFIG_EVENTS_MAX)
		return SDK_EXCEEDS_HW_LIMIT;
	config->events[config->event_count++] = event;
	return SDK_SUCCESS;
}

static int events_add(struct counter_config *config, const struct catalog_counter *counter)
{
	const struct catalog_node *nodes =
		(const struct catalog_node *)catalog_list(config->catalog, CATALOG_NODES) +
		counter->first;
	int r = counter->count ? SDK_SUCCESS : SDK_AST_GENERATION_FAILED;

	for (uint32_t i = 0; !r && i < counter->count; i++)
		if (nodes[i].kind == CATALOG_EVENT)
			r = event_add(config, nodes[i].what);
	return r;
}

static int counter_add(struct counter_config *config, uint64_t id)
{
	const struct catalog_counter *counter = counters_find(config->catalog, id);

	if (!counter)
		return SDK_COUNTER_NOT_FOUND;
	if (config_has(config, id))
		return SDK_SUCCESS;
	if (!device_has(config->device, id))
		return SDK_METRIC_NOT_VALID_FOR_AGENT;
	if (config->counter_count == CONFIG_COUNTERS_MAX)
		return SDK_OUT_OF_RESOURCES;
	config->counters[config->counter_count++] = (uint16_t)id;
	return events_add(config, counter);
}

/* Under counters_enter(). Stores the handle last: it publishes the config. */
static int config_take(const struct counter_config *made, struct sdk_handle *ret)
{
	for (unsigned i = 0; i < CONFIGS_MAX; i++) {
		struct counter_config *into = &configs[++lives % CONFIGS_MAX];

		if (into->handle)
			continue;
		*into = *made;
		ret->handle = lives;
		__atomic_store_n(&into->handle, lives, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

/* Adds the counters of the base config, too, if there is one. */
static int config_fill(struct counter_config *config, const struct sdk_handle *counters,
		       size_t count, struct sdk_handle base)
{
	const struct counter_config *before = config_find(base);
	int r = SDK_SUCCESS;

	for (size_t i = 0; !r && i < count; i++)
		r = counter_add(config, counters[i].handle);
	for (uint32_t i = 0; !r && before && i < before->counter_count; i++)
		r = counter_add(config, before->counters[i]);
	return r;
}

SDK_EXPORT int rocprofiler_create_counter_config(struct sdk_handle agent,
						 struct sdk_handle *counters, size_t count,
						 struct sdk_handle *config);
SDK_EXPORT int rocprofiler_destroy_counter_config(struct sdk_handle config);

int rocprofiler_create_counter_config(struct sdk_handle agent, struct sdk_handle *counters,
				      size_t count, struct sdk_handle *config)
{
	struct counter_config made = { .catalog = counters_catalog(),
				       .agent = agent,
				       .tool = MAX(contexts_configuring(), OF_ANYBODY) };
	int r;

	if (!config || (count && !counters))
		return SDK_INVALID_ARGUMENT;
	if (!counters_know_agent(agent))
		return SDK_AGENT_NOT_FOUND;
	made.device = made.catalog ? counters_device(made.catalog, agent) : NULL;
	if (!made.device)
		return SDK_AGENT_ARCH_NOT_SUPPORTED;
	r = config_fill(&made, counters, count, *config);
	if (r)
		return r;
	if (!counters_enter())
		return SDK_OUT_OF_RESOURCES;
	r = config_take(&made, config);
	counters_leave();
	return r;
}

int rocprofiler_destroy_counter_config(struct sdk_handle id)
{
	struct counter_config *config = &configs[id.handle % CONFIGS_MAX];
	uint64_t handle = id.handle;

	return handle && __atomic_compare_exchange_n(&config->handle, &handle, 0, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
		       ? SDK_SUCCESS
		       : SDK_PROFILE_NOT_FOUND;
}

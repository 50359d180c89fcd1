/*
 * On threads of tools and of ours.
 */
#include "target/sdk/counters/dispatch/expected.h"

#include "target/runtime/hsa_gate.h"
#include "target/sdk/counters/device_counting.h"
#include "target/sdk/counters/dispatch/engine.h"
#include "target/sdk/status.h"

static bool config_is_idle(const struct counted_config *config)
{
	for (unsigned i = 0; config->sets && i < COUNTED_SETS; i++)
		if (__atomic_load_n(&config->sets[i].state, __ATOMIC_ACQUIRE) > SET_FREE)
			return false;
	return true;
}

/* Whoever may have found one of its sets is waited for.  True: it is free. */
static bool config_leave(struct counted_config *config)
{
	bool is_free = false;

	if (!config->handle)
		return true;
	__atomic_store_n(&config->is_ready, 0, __ATOMIC_SEQ_CST);
	if (!dispatch_engine_await_visits() || !config_is_idle(config) ||
	    !dispatch_engine_await_visits() || !dispatch_engine_enter())
		return false;
	is_free = counted_config_give_back(config, dispatch_engine_hsa());
	hsa_gate_leave();
	return is_free;
}

bool expected_configs_leave(void)
{
	bool are_free = true;

	for (unsigned i = 0; i < COUNTED_DEVICES; i++) {
		struct counted_device *device = &counted_devices[i];

		__atomic_store_n(&device->current, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&device->wanted, 0, __ATOMIC_RELAXED);
		device->refused = 0;
		for (unsigned j = 0; j < COUNTED_CONFIGS; j++)
			are_free &= config_leave(&device->configs[j]);
	}
	return are_free;
}

static struct counted_config *config_of(struct counted_device *device, uint64_t handle)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		if (device->configs[i].handle == handle)
			return &device->configs[i];
	return NULL;
}

/* An entry for another; the ones that are expected and were not used for long go first. */
static struct counted_config *config_make_room(struct counted_device *device)
{
	struct counted_config *found = config_of(device, 0);

	for (unsigned i = 0; !found && i < COUNTED_CONFIGS; i++)
		if (i + 1 != device->current && config_leave(&device->configs[i]))
			found = &device->configs[i];
	return found;
}

static int config_make(struct counted_device *device, uint64_t handle, struct counted_config *into)
{
	struct counter_config config;
	int r;

	if (!config_copy((struct sdk_handle){ handle }, &config))
		return SDK_PROFILE_NOT_FOUND;
	if (config.agent.handle != device->id.handle)
		return SDK_AGENT_MISMATCH;
	/* Without a driver that has one, nobody else can tell either. */
	if (driver_lock_take(&device->lock, device->node, /* all_queues */ false) ==
	    SDK_CONTEXT_CONFLICT)
		return SDK_CONTEXT_CONFLICT;
	if (!device_countings_watch_exit(false))
		return SDK_NOT_AVAILABLE;
	r = counted_config_make(into, &config, dispatch_engine_hsa(), dispatch_engine_enter);
	if (!r && !device_countings_watch_exit(true))
		r = SDK_NOT_AVAILABLE;
	return r;
}

/* A status. */
static int config_expect(struct counted_device *device, uint64_t handle)
{
	struct counted_config *found = config_of(device, handle);
	int r = SDK_SUCCESS;

	if (!found || !found->is_ready) {
		found = found ? found : config_make_room(device);
		r = found ? config_make(device, handle, found) : SDK_OUT_OF_RESOURCES;
	}
	if (!r)
		__atomic_store_n(&device->current, (uint32_t)(found - device->configs) + 1,
				 __ATOMIC_RELEASE);
	else if (r != SDK_HSA_NOT_LOADED && r != SDK_OUT_OF_RESOURCES)
		device->refused = handle;
	return r;
}

int expected_configs_follow(void)
{
	int fault = SDK_SUCCESS;

	for (unsigned i = 0; i < COUNTED_DEVICES; i++) {
		struct counted_device *device = &counted_devices[i];
		uint64_t wanted = __atomic_load_n(&device->wanted, __ATOMIC_RELAXED);
		int r = SDK_SUCCESS;

		if (!device->agent)
			continue;
		if (!wanted && !device->current)
			wanted = config_find_newest(device->id);
		if (wanted && wanted != device->refused &&
		    (!device->current || device->configs[device->current - 1].handle != wanted))
			r = config_expect(device, wanted);
		fault = fault ? fault : r;
	}
	return fault;
}

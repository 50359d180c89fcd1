/*
 * Runs on threads of tools and of limpet; application threads report what the tool has chosen.
 */
#include "target/amd/sinks/sdk/counters/dispatch/expected.h"

#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/device_counting.h"
#include "target/amd/sinks/sdk/counters/dispatch/runtime.h"
#include "target/amd/sinks/sdk/counters/dispatch/service.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/patience.h"

#define GLANCE_NS 50000u
#define FIRST_NS  500000000ull /* wait for packets of the first config, once */

static bool config_is_idle(const struct counted_config *config)
{
	for (unsigned i = 0; config->sets && i < COUNTED_SETS; i++)
		if (__atomic_load_n(&config->sets[i].state, __ATOMIC_ACQUIRE) > SET_FREE)
			return false;
	return true;
}

/* No thread takes a set of the config any more, and earlier visits have ended. True: it is free. */
static bool config_give_back(struct counted_config *config)
{
	bool is_free = false;

	if (!config->handle)
		return true;
	if (!config_is_idle(config) || !dispatch_runtime_await_visits() ||
	    !dispatch_runtime_enter())
		return false;
	is_free = counted_config_give_back(config, dispatch_runtime_hsa());
	hsa_gate_leave();
	return is_free;
}

static bool config_leave(struct counted_config *config)
{
	__atomic_store_n(&config->is_ready, 0, __ATOMIC_SEQ_CST);
	return !config->handle || (dispatch_runtime_await_visits() && config_give_back(config));
}

static void configs_refuse(struct counted_device *device)
{
	__atomic_store_n(&device->current, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&device->wanted, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&device->missed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&device->refused, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&device->was_awaited, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		__atomic_store_n(&device->configs[i].is_ready, 0, __ATOMIC_SEQ_CST);
}

/* Waits for visits before the loop: if a thread is stuck in a visit, returns after one wait. */
bool expected_configs_leave(void)
{
	bool are_free = true;

	for (unsigned i = 0; i < counted_device_count; i++)
		configs_refuse(&counted_devices[i]);
	if (!dispatch_runtime_await_visits())
		return false;
	for (unsigned i = 0; i < counted_device_count; i++)
		for (unsigned j = 0; j < COUNTED_CONFIGS; j++)
			are_free &= config_give_back(&counted_devices[i].configs[j]);
	return are_free;
}

static struct counted_config *config_of(struct counted_device *device, uint64_t handle)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		if (device->configs[i].handle == handle)
			return &device->configs[i];
	return NULL;
}

/* Finds an entry for another config; entries that are not expected are freed first. */
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
	/* Without a driver that has this lock, other profilers cannot be excluded either. */
	if (driver_lock_acquire(&device->lock, device->node, /* all_queues */ false) ==
	    SDK_CONTEXT_CONFLICT)
		return SDK_CONTEXT_CONFLICT;
	if (!device_countings_watch_exit(false))
		return SDK_NOT_AVAILABLE;
	r = counted_config_make(into, &config, dispatch_runtime_hsa(), dispatch_runtime_enter);
	if (!r && !device_countings_watch_exit(true))
		r = SDK_NOT_AVAILABLE;
	return r;
}

/* Returns a status. */
static int config_prepare(struct counted_device *device, uint64_t handle,
			  struct counted_config **ret)
{
	int r = SDK_SUCCESS;

	*ret = config_of(device, handle);
	if (!*ret || !(*ret)->is_ready) {
		*ret = *ret ? *ret : config_make_room(device);
		r = *ret ? config_make(device, handle, *ret) : SDK_OUT_OF_RESOURCES;
	}
	if (r && r != SDK_HSA_NOT_LOADED && r != SDK_OUT_OF_RESOURCES)
		__atomic_store_n(&device->refused, handle, __ATOMIC_RELAXED);
	return r;
}

static int config_expect(struct counted_device *device, uint64_t handle)
{
	struct counted_config *config;
	int r = config_prepare(device, handle, &config);

	if (!r)
		__atomic_store_n(&device->current, (uint32_t)(config - device->configs) + 1,
				 __ATOMIC_RELEASE);
	return r;
}

/* When a tool rotates configs, the expected one may exist while the chosen one does not. */
static void missed_prepare(struct counted_device *device)
{
	uint64_t missed = __atomic_exchange_n(&device->missed, 0, __ATOMIC_SEQ_CST);
	struct counted_config *unused;

	if (missed && missed != device->refused)
		(void)config_prepare(device, missed, &unused);
}

int expected_configs_follow(int tool)
{
	int fault = SDK_SUCCESS;

	for (unsigned i = 0; i < COUNTED_DEVICES; i++) {
		struct counted_device *device = &counted_devices[i];
		uint64_t wanted = __atomic_load_n(&device->wanted, __ATOMIC_RELAXED);
		int r = SDK_SUCCESS;

		if (!device->agent)
			continue;
		if (!wanted && !device->current)
			wanted = config_find_newest(device->id, tool);
		if (wanted && wanted != device->refused &&
		    (!device->current || device->configs[device->current - 1].handle != wanted))
			r = config_expect(device, wanted);
		missed_prepare(device);
		fault = fault ? fault : r;
	}
	return fault;
}

/* In a visit: a ready config stays ready. Its index + 1; 0: no packets. */
static uint32_t config_find_ready(const struct counted_device *device, uint64_t handle)
{
	for (unsigned i = 0; i < COUNTED_CONFIGS; i++)
		if (__atomic_load_n(&device->configs[i].is_ready, __ATOMIC_SEQ_CST) &&
		    device->configs[i].handle == handle)
			return i + 1;
	return 0;
}

static bool config_is_awaited(struct counted_device *device, uint64_t handle)
{
	return !__atomic_load_n(&device->current, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&device->refused, __ATOMIC_RELAXED) != handle &&
	       dispatch_runtime_is_watched();
}

/* A tool that creates its config in the first callback would miss all kernels of a burst. Waits
 * only once: the thread that makes packets may be in the tool for long. */
static void config_await_first(struct counted_device *device, uint64_t handle)
{
	struct patience patience = { 0, 0 };

	if (!config_is_awaited(device, handle) ||
	    __atomic_exchange_n(&device->was_awaited, 1, __ATOMIC_SEQ_CST))
		return;
	while (config_is_awaited(device, handle) && patience_pause(&patience, GLANCE_NS, FIRST_NS))
		;
}

/* In a visit. True: packets must be made. */
static bool config_note(struct counted_device *device, uint64_t chosen, uint64_t next)
{
	uint64_t before = __atomic_exchange_n(&device->wanted, next, __ATOMIC_SEQ_CST);
	uint32_t ready = config_find_ready(device, next);

	if (ready)
		__atomic_store_n(&device->current, ready, __ATOMIC_RELEASE);
	if (chosen != next && !config_find_ready(device, chosen)) {
		__atomic_store_n(&device->missed, chosen, __ATOMIC_SEQ_CST);
		return true;
	}
	return !ready && before != next;
}

void config_expect_after(struct counted_device *device, uint64_t config)
{
	uint64_t next = config_choices_note(&device->choices, config);
	const struct dispatch_service *service = dispatch_service_active();
	unsigned visit = dispatch_runtime_visit();
	bool is_due;

	if (!visit)
		return;
	is_due = config_note(device, config, next);
	visit_end(visit);
	if (!is_due || !service)
		return;
	delivery_wake(service->thread);
	config_await_first(device, next);
}

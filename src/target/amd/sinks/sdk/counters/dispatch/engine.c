/*
 * Runs on threads of tools and of limpet, with the device turn held (device_turn.h); slots in
 * queues are reserved on application threads.
 */
#include "target/amd/sinks/sdk/counters/dispatch/engine.h"

#include "target/amd/counters/owner.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/device_queue.h"
#include "target/amd/sinks/sdk/counters/device_turn.h"
#include "target/amd/sinks/sdk/counters/dispatch/expected.h"
#include "target/amd/sinks/sdk/counters/dispatch/service.h"
#include "target/amd/sinks/sdk/counters/dispatch/visits.h"
#include "target/amd/sinks/sdk/counters/extents.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/tables/intercept.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"

#define TURN_NS   2000000000ull
#define GLANCE_NS 50000u
#define THREADS_NS                                                                    \
	2000000000ull /* for threads that reserve slots or ring doorbells: those of a \
		       * container may be frozen for long */
#define MULTI 0u      /* queue type */

static uint32_t is_on;     /* slots are reserved */
static uint32_t ringing;   /* limpet's threads that ring application doorbells */
static uint32_t is_unkept; /* queues of an earlier begin are still in the table */
static uint32_t is_spoiled, is_halted;
static uint32_t service_life; /* of the service it works for */

void dispatch_engine_miss(void)
{
	__atomic_add_fetch(&agent_page.dropped, 1, __ATOMIC_RELAXED);
}

void dispatch_engine_spoil(void)
{
	__atomic_store_n(&is_spoiled, 1, __ATOMIC_SEQ_CST);
}

bool dispatch_engine_is_spoiled(void)
{
	if (!dispatch_runtime_sees_queues())
		dispatch_engine_spoil();
	return __atomic_load_n(&is_spoiled, __ATOMIC_SEQ_CST);
}

/* The order matters. The set is published before any of its packets belongs to the device, which
 * may start executing at once; the reservation is published before any packet is written. */
static void packets_put(struct counted_set *set, struct counted_queue *queue,
			const struct hsa_ring *ring, uint64_t first,
			const struct launch_origin *origin)
{
	/* Only memory stores: the device may wait for the packets until slots_fill() ends. */
	set->service = service_life;
	counted_queue_note_taken(queue, first + SLOTS_EXTRA);
	counted_set_begin(set, queue, first, origin);
	counted_sets_mix(queue->device, queue, set, dispatch_runtime_hsa());
	slots_note(&queue->ring.counted_last, first + SLOTS_EXTRA);
	slots_fill(ring, first, &set->aql.packets, set->signal);
}

/* Queues that share a doorbell replace each other in the entry. */
static bool ring_is_of(const struct hsa_ring *ring, const struct hsa_queue *handle)
{
	return ring->base == handle->base && ring->size == handle->size &&
	       ring->doorbell == handle->doorbell;
}

/* On the application thread that reserves a slot in the queue. */
static bool packets_reserve(struct counted_queue *queue, const struct hsa_queue *handle,
			    const struct launch_origin *origin, uint64_t *ret_index)
{
	struct ring_calls calls = dispatch_runtime_calls();
	struct counted_set *set;
	struct hsa_ring ring = queue->ring;
	uint64_t first;

	ring.queue = handle;
	/* Checks for room first: without it, taking a set would only deprive other threads. */
	if (!queue->device || handle->type != MULTI || !ring_is_of(&ring, handle) ||
	    !slots_have_room(&calls, &ring))
		return false;
	set = counted_set_acquire(queue->device);
	if (!set)
		return false;
	if (!slots_reserve(&calls, &ring, &first)) {
		counted_set_put_back(set);
		return false;
	}
	packets_put(set, queue, &ring, first, origin);
	*ret_index = first + 1;
	return true;
}

bool dispatch_engine_reserve(struct counted_queue *queue, const struct hsa_queue *handle,
			     const struct launch_origin *origin, uint64_t *ret_index)
{
	/* Sequential: pairs with engine_stop(). */
	return __atomic_load_n(&is_on, __ATOMIC_SEQ_CST) &&
	       packets_reserve(queue, handle, origin, ret_index);
}

void dispatch_engine_note_plain(struct counted_queue *queue, uint64_t last)
{
	/* NULL: the queue's device is not counted. */
	if (queue->device)
		counted_queue_note_plain(queue, last, dispatch_runtime_hsa());
}

static void ringing_await(void)
{
	struct patience patience = { 0, 0 };

	while (__atomic_load_n(&ringing, __ATOMIC_SEQ_CST) &&
	       patience_pause(&patience, GLANCE_NS, THREADS_NS))
		;
}

uint64_t dispatch_engine_leave_queue(uint64_t doorbell)
{
	uint64_t queue_life = counted_queue_forget(doorbell);

	/* Sequential: pairs with set_ring(). */
	ringing_await();
	return queue_life;
}

/* Rings for limpet's packets: the application may never ring again. A queue being destroyed is
 * forgotten first, and its thread waits for this one. */
static void set_ring(struct counted_device *device, struct counted_set *set, void *data)
{
	uint64_t doorbell = __atomic_load_n(&set->key->doorbell, __ATOMIC_SEQ_CST);
	uint64_t index = __atomic_load_n(&set->key->index, __ATOMIC_RELAXED);
	const struct hsa_functions *hsa = dispatch_runtime_hsa();
	const struct counted_queue *queue;

	(void)device, (void)data;
	/* Acquire: if the doorbell is unchanged, the index belongs to its queue. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!doorbell || __atomic_load_n(&set->key->doorbell, __ATOMIC_RELAXED) != doorbell ||
	    hsa->signal_load(set->signal) <= 0)
		return;
	__atomic_fetch_add(&ringing, 1, __ATOMIC_SEQ_CST);
	queue = counted_queue_of(doorbell);
	/* Another queue may have the doorbell by now. */
	if (queue && __atomic_load_n(&queue->life, __ATOMIC_SEQ_CST) ==
			     __atomic_load_n(&set->queue_life, __ATOMIC_ACQUIRE))
		hsa->signal_store(doorbell, (int64_t)(index + SLOTS_EXTRA - 1));
	__atomic_fetch_sub(&ringing, 1, __ATOMIC_SEQ_CST);
}

/* Packets that are not rung for do not stall: they run with the application's next packet. */
static void engine_stop(void)
{
	/* Sequential: pairs with dispatch_engine_reserve(). */
	if (!__atomic_exchange_n(&is_on, 0, __ATOMIC_SEQ_CST))
		return;
	(void)dispatch_runtime_await_visits();
	if (!dispatch_runtime_enter())
		return;
	if (dispatch_runtime_sees_queues())
		counted_sets_each(set_ring, NULL);
	hsa_gate_leave();
}

void dispatch_engine_halt(void)
{
	__atomic_store_n(&is_halted, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&is_on, 0, __ATOMIC_SEQ_CST);
}

static void devices_clear(void)
{
	for (unsigned i = 0; i < COUNTED_DEVICES; i++) {
		__atomic_store_n(&counted_devices[i].agent, 0, __ATOMIC_RELEASE);
		counted_devices[i].queue_count = 0;
	}
}

static void claim_end(void)
{
	for (unsigned i = 0; i < COUNTED_DEVICES; i++)
		driver_lock_release(&counted_devices[i].lock);
	dispatch_runtime_release();
	owner_release(OWNER_KERNELS);
	intercept_update();
}

/* Queues may be destroyed unseen from now on. False: a visit still uses them; the engine does not
 * begin again before it ends. */
static bool queues_drop(void)
{
	if (!dispatch_runtime_await_visits())
		return false;
	counted_queues_clear();
	devices_clear();
	is_unkept = 0;
	return true;
}

static void engine_end(void)
{
	dispatch_runtime_watch(false);
	is_unkept = 1;
	(void)queues_drop();
	claim_end();
}

/* The runtime is gone: calls none of its functions. False: a visit from before its end still
 * runs. */
static bool engine_drop(void)
{
	__atomic_store_n(&is_on, 0, __ATOMIC_SEQ_CST);
	if (!dispatch_runtime_await_visits())
		return false;
	for (unsigned i = 0; i < COUNTED_DEVICES; i++)
		for (unsigned j = 0; j < COUNTED_CONFIGS; j++)
			counted_config_drop(&counted_devices[i].configs[j], /* is_child */ false);
	for (unsigned i = 0; i < COUNTED_DEVICES; i++)
		counted_devices[i].current = 0;
	engine_end();
	return true;
}

static unsigned devices_count(const struct catalog *catalog)
{
	return catalog->lists[CATALOG_DEVICES].count;
}

static void devices_name(const struct catalog *catalog)
{
	const struct catalog_device *list = catalog_list(catalog, CATALOG_DEVICES);

	for (unsigned i = 0; i < devices_count(catalog); i++) {
		counted_devices[i].node = list[i].node;
		counted_devices[i].id = agent_of_number(list[i].node);
	}
	counted_device_count = MAX(counted_device_count, devices_count(catalog));
}

static bool aqlprofile_is_there(const struct catalog *catalog)
{
	const struct catalog_device *list = catalog_list(catalog, CATALOG_DEVICES);
	struct pmc_agent unused;

	for (unsigned i = 0; i < devices_count(catalog); i++)
		if (extents_library(catalog, &list[i], &unused))
			return true;
	return false;
}

static int engine_begin(const struct catalog *catalog)
{
	int r;

	if (is_unkept && !queues_drop())
		return SDK_HSA_NOT_LOADED;
	if (!owner_claim(OWNER_KERNELS))
		return SDK_CONTEXT_CONFLICT;
	intercept_update();
	r = dispatch_runtime_find();
	if (!r) {
		devices_name(catalog);
		r = dispatch_runtime_find_devices(devices_count(catalog));
	}
	if (r) {
		claim_end();
		return r;
	}
	dispatch_runtime_watch(true);
	intercept_update();
	return SDK_SUCCESS;
}

static int engine_prepare(void)
{
	const struct catalog *catalog = counters_catalog();

	if (!catalog)
		return SDK_HSA_NOT_LOADED; /* no tool can have a config */
	if (!aqlprofile_is_there(catalog))
		return SDK_NOT_AVAILABLE;
	return engine_begin(catalog);
}

/* Changes services: uses nothing of the former one, whose values under way stay spoiled. */
static void engine_change(const struct dispatch_service *service)
{
	engine_stop();
	(void)expected_configs_leave();
	service_life = service->life;
	dispatch_service_keep(service_life);
	if (__atomic_exchange_n(&is_spoiled, 0, __ATOMIC_SEQ_CST))
		counted_sets_spoil();
}

static int engine_work_for(const struct dispatch_service *service)
{
	int r = dispatch_runtime_is_watched() ? SDK_SUCCESS : engine_prepare();

	if (r)
		return r;
	if (service_life != service->life || !__atomic_load_n(&is_on, __ATOMIC_SEQ_CST))
		engine_change(service);
	r = expected_configs_follow(service->tool);
	/* Sequential: pairs with dispatch_engine_reserve(). */
	__atomic_store_n(&is_on, !__atomic_load_n(&is_halted, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
	return r;
}

static int engine_adjust(void)
{
	const struct dispatch_service *service = dispatch_service_active();
	bool is_there = dispatch_runtime_is_watched();

	if (is_there && dispatch_runtime_is_gone() && !engine_drop())
		return SDK_HSA_NOT_LOADED;
	if (service)
		return engine_work_for(service);
	if (!dispatch_runtime_is_watched())
		return SDK_SUCCESS;
	engine_stop();
	if (expected_configs_leave())
		engine_end();
	return SDK_SUCCESS;
}

static int engine_adjust_in_turn(void)
{
	int r;

	if (device_queues_are_over() || __atomic_load_n(&is_halted, __ATOMIC_SEQ_CST))
		return SDK_FINALIZED;
	if (!device_turn_enter(TURN_NS))
		return SDK_CONTEXT_ERROR;
	r = engine_adjust();
	device_turn_leave();
	return r;
}

void dispatch_engine_follow(void)
{
	if (page_is_own() && (dispatch_runtime_is_watched() || dispatch_service_active()))
		(void)engine_adjust_in_turn();
}

/* Counting begins later if HSA does not run yet, or calls do not lead to limpet yet. */
int dispatch_engine_start(unsigned context)
{
	int r;

	if (!page_is_own() || !dispatch_service_is_of(context))
		return SDK_SUCCESS;
	if (dispatch_service_has_other(context))
		return SDK_CONTEXT_CONFLICT;
	r = engine_adjust_in_turn();
	return r == SDK_HSA_NOT_LOADED ? SDK_SUCCESS : r;
}

void dispatch_engine_adopt(void)
{
	is_on = ringing = is_unkept = 0;
	dispatch_runtime_adopt();
	for (unsigned i = 0; i < COUNTED_DEVICES; i++)
		for (unsigned j = 0; j < COUNTED_CONFIGS; j++)
			counted_config_drop(&counted_devices[i].configs[j], /* is_child */ true);
	for (unsigned i = 0; i < COUNTED_DEVICES; i++)
		driver_lock_adopt(&counted_devices[i].lock);
	counted_queues_clear();
	devices_clear();
}

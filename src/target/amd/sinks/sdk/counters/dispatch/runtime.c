/*
 * Changed with the device turn held; read by any thread.
 */
#include "target/amd/sinks/sdk/counters/dispatch/runtime.h"

#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/device_queue.h"
#include "target/amd/tables/intercept.h"
#include "target/runtime/hsa_gate.h"

#define THREADS_NS                                                                    \
	2000000000ull /* for threads that reserve slots or ring doorbells: those of a \
		       * container may be frozen for long */

static uint32_t is_watched; /* publishes what follows */
static uint32_t life, puts; /* see device_queues_judge() */
static struct hsa_library library;
static struct hsa_functions hsa;

bool dispatch_runtime_is_watched(void)
{
	/* Acquire: pairs with dispatch_runtime_watch(). */
	return __atomic_load_n(&is_watched, __ATOMIC_ACQUIRE);
}

void dispatch_runtime_watch(bool begins)
{
	__atomic_store_n(&is_watched, begins, __ATOMIC_SEQ_CST);
}

/* True if it is still the same life. */
static bool runtime_is_same(void)
{
	return __atomic_load_n(&is_watched, __ATOMIC_SEQ_CST) && life == device_queues_life() &&
	       !device_queues_are_over();
}

unsigned dispatch_runtime_visit(void)
{
	unsigned visit;

	if (!dispatch_runtime_is_watched())
		return 0;
	visit = visit_begin();
	if (runtime_is_same())
		return visit;
	visit_end(visit);
	return 0;
}

bool dispatch_runtime_await_visits(void)
{
	return visits_await(THREADS_NS);
}

const struct hsa_functions *dispatch_runtime_hsa(void)
{
	return &hsa;
}

struct ring_calls dispatch_runtime_calls(void)
{
	return (struct ring_calls){ hsa.load_read, hsa.load_write, hsa.cas_write,
				    hsa.signal_store };
}

bool dispatch_runtime_sees_queues(void)
{
	return intercept_sees_queues(library.entries);
}

static enum device_answer runtime_judge(void)
{
	return device_queues_judge(life, puts, library.entries);
}

bool dispatch_runtime_enter(void)
{
	if (!dispatch_runtime_is_watched() || !hsa_gate_enter())
		return false;
	if (runtime_judge() == DEVICE_DONE)
		return true;
	hsa_gate_leave();
	return false;
}

bool dispatch_runtime_is_gone(void)
{
	bool is_gone;

	if (!hsa_gate_enter())
		return false;
	is_gone = runtime_judge() == DEVICE_GONE;
	hsa_gate_leave();
	return is_gone;
}

/* Reads the life first, so that functions of an earlier life are not used. */
int dispatch_runtime_find(void)
{
	int r;

	life = device_queues_life();
	if (!hsa_library_hold(&library))
		return SDK_HSA_NOT_LOADED;
	puts = intercept_restart_puts();
	r = status_of_lack(hsa_find_own(&library, NEED_QUEUES, &hsa));
	return r ? r : hsa.load_read ? SDK_SUCCESS : SDK_NO_PROFILE_QUEUE;
}

/* A runtime that has not been initialized knows no agent. */
static bool devices_find(unsigned count)
{
	bool are_there = false;

	for (unsigned i = 0; i < count; i++) {
		uint64_t agent = hsa_agent_of_node(&hsa, counted_devices[i].node);

		__atomic_store_n(&counted_devices[i].agent, agent, __ATOMIC_RELEASE);
		are_there |= agent != 0;
	}
	return are_there;
}

int dispatch_runtime_find_devices(unsigned count)
{
	int r = SDK_HSA_NOT_LOADED;

	if (!hsa_gate_enter())
		return r;
	if (runtime_judge() == DEVICE_DONE && devices_find(count))
		r = SDK_SUCCESS;
	else if (device_queues_are_over())
		r = SDK_FINALIZED;
	else if (intercept_hides_restarts(library.entries))
		r = SDK_NO_PROFILE_QUEUE;
	hsa_gate_leave();
	return r;
}

void dispatch_runtime_release(void)
{
	hsa_library_leave(&library);
}

void dispatch_runtime_adopt(void)
{
	is_watched = 0;
	visits_adopt();
}

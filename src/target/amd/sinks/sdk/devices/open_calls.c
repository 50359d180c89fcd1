/*
 * A hash table by id; any thread, under a short spin lock. A thread that does not get it goes on
 * without: then an id is retired early.
 */
#include "target/amd/sinks/sdk/devices/open_calls.h"

#define CALLS_MAX  8192u
#define PROBES_MAX 32u
#define SPINS_MAX  1000000u

static struct open_call {
	uint64_t internal; /* 0: free */
	uint32_t launches;
	bool has_returned;
} calls[CALLS_MAX];
static uint32_t is_locked;

static bool calls_lock(void)
{
	for (unsigned i = 0; i < SPINS_MAX; i++)
		if (!__atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

static void calls_unlock(void)
{
	__atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE);
}

void open_calls_adopt(void)
{
	is_locked = 0;
}

static struct open_call *call_find(uint64_t internal, bool makes)
{
	struct open_call *free_one = NULL;

	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct open_call *call = &calls[(internal + i) % CALLS_MAX];

		if (call->internal == internal)
			return call;
		if (!call->internal && !free_one)
			free_one = call;
	}
	if (!makes)
		return NULL;
	/* The oldest entries belong to work that was never reported. */
	if (!free_one)
		free_one = &calls[internal % CALLS_MAX];
	*free_one = (struct open_call){ internal, 0, false };
	return free_one;
}

void open_call_note(uint64_t internal)
{
	if (!calls_lock())
		return;
	call_find(internal, true)->launches++;
	calls_unlock();
}

bool open_call_end_one(uint64_t internal)
{
	struct open_call *call;
	bool is_last = true;

	if (!calls_lock())
		return false;
	call = call_find(internal, false);
	if (call) {
		call->launches -= call->launches > 0;
		is_last = !call->launches && call->has_returned;
		if (is_last)
			call->internal = 0;
	}
	calls_unlock();
	return is_last;
}

bool open_call_return(uint64_t internal, bool has_failed)
{
	struct open_call *call;
	bool is_open = false;

	if (!calls_lock())
		return false;
	call = call_find(internal, false);
	if (call) {
		call->has_returned = true;
		is_open = call->launches && !has_failed;
		if (!is_open)
			call->internal = 0;
	}
	calls_unlock();
	return is_open;
}

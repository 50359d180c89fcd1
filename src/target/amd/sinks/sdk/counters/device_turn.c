/*
 * Runs on threads of tools, of limpet, and on the application thread that shuts HSA down.
 */
#include "target/amd/sinks/sdk/counters/device_turn.h"

#include "target/runtime/patience.h"

#define GLANCE_NS 50000u

static uint32_t is_taken, waiting;

static bool turn_try(void)
{
	return !__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE);
}

bool device_turn_enter(uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };
	bool is_mine = turn_try();

	if (is_mine)
		return true;
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	while (!is_mine && patience_pause(&patience, GLANCE_NS, limit_ns))
		is_mine = turn_try();
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
	/* Tries once more: the pause may have been long. */
	return is_mine || turn_try();
}

bool device_turn_enter_last(uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };

	while (__atomic_load_n(&waiting, __ATOMIC_RELAXED) || !turn_try())
		if (!patience_pause(&patience, GLANCE_NS, limit_ns))
			return turn_try();
	return true;
}

void device_turn_leave(void)
{
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

void device_turn_adopt(void)
{
	is_taken = waiting = 0;
}

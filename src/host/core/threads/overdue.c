/*
 * Runs on every thread that reads a target, at each read.
 */
#include "host/core/threads/overdue.h"

#include "host/core/clock.h"

#include <stddef.h>

#define CALLS_WATCHED 256u /* at a time; more are not */

static uint64_t since_ns[CALLS_WATCHED]; /* 0: free */
static unsigned threads;
static __thread uint64_t *mine; /* of the call in progress */
static __thread unsigned first; /* this thread's first slot to try, from 1: rarely shared */

static uint64_t *slot_claim(uint64_t now)
{
	if (!first)
		first = 1 + __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % CALLS_WATCHED;
	for (unsigned i = 0; i < CALLS_WATCHED; i++) {
		uint64_t *slot = &since_ns[(first - 1 + i) % CALLS_WATCHED], unused = 0;

		if (__atomic_compare_exchange_n(slot, &unused, now, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

void overdue_begin(void)
{
	mine = slot_claim(now_ns());
}

void overdue_end(void)
{
	if (mine)
		__atomic_store_n(mine, 0, __ATOMIC_RELAXED);
}

bool overdue_is(uint64_t limit_ns)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < CALLS_WATCHED; i++) {
		uint64_t since = __atomic_load_n(&since_ns[i], __ATOMIC_RELAXED);

		if (since && now > since && now - since > limit_ns)
			return true;
	}
	return false;
}

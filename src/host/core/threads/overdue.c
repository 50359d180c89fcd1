/*
 * On every thread that reads a target, at each read.  Host only.
 */
#include "host/core/threads/overdue.h"

#include "host/core/clock.h"

#include <stddef.h>

#define THREADS_WATCHED 256u /* later ones are not */

static uint64_t
	since_ns[THREADS_WATCHED + 1]; /* 0: in none; the last: of all that are not watched */
static unsigned taken;
static __thread uint64_t *mine;

static uint64_t *slot_take(void)
{
	unsigned index = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);

	return &since_ns[index < THREADS_WATCHED ? index : THREADS_WATCHED];
}

void overdue_begin(void)
{
	if (!mine)
		mine = slot_take();
	__atomic_store_n(mine, now_ns(), __ATOMIC_RELAXED);
}

void overdue_end(void)
{
	__atomic_store_n(mine, 0, __ATOMIC_RELAXED);
}

bool overdue_is(uint64_t limit_ns)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < THREADS_WATCHED; i++) {
		uint64_t since = __atomic_load_n(&since_ns[i], __ATOMIC_RELAXED);

		if (since && now > since && now - since > limit_ns)
			return true;
	}
	return false;
}

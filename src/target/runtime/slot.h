/*
 * Tables whose slots many threads claim without a lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* True if the slot has this key now. Many threads read a slot at once, so it is written to only
 * while it is empty. */
static inline bool slot_claim(uint64_t *slot, uint64_t key)
{
	uint64_t there = __atomic_load_n(slot, __ATOMIC_RELAXED);

	return there == key ||
	       (!there && (__atomic_compare_exchange_n(slot, &there, key, false, __ATOMIC_RELAXED,
						       __ATOMIC_RELAXED) ||
			   there == key));
}

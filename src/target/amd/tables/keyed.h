/*
 * Tables by key that threads use without a lock. A key is in one of `window` slots behind its hash.
 * A slot begins with its key, 0: free; the thread that stores a key there owns the slot.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keyed_table {
	void *slots;
	uint32_t slot_bytes, count, window;
};

static inline char *keyed_first(const struct keyed_table *table, uint64_t key)
{
	uint32_t first =
		(uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) % (table->count - table->window);

	return (char *)table->slots + (size_t)first * table->slot_bytes;
}

/* NULL: the table does not have the key; also for 0. */
static inline void *keyed_find(const struct keyed_table *table, uint64_t key)
{
	char *at = keyed_first(table, key);

	for (uint32_t i = 0; key && i < table->window; i++, at += table->slot_bytes)
		/* Acquire: pairs with the thread that has stored the key. */
		if (__atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE) == key)
			return at;
	return NULL;
}

/* Stores `stored` into a free slot for the key. NULL: there is no room. */
static inline void *keyed_claim(const struct keyed_table *table, uint64_t key, uint64_t stored)
{
	char *at = keyed_first(table, key);

	for (uint32_t i = 0; i < table->window; i++, at += table->slot_bytes) {
		uint64_t *slot = (uint64_t *)at, none = 0;

		if (!__atomic_load_n(slot, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(slot, &none, stored, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return at;
	}
	return NULL;
}

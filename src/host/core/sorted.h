/*
 * Searches in lists that ascend by a key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of the item at an index of the list. */
typedef uint64_t key_at(const void *items, size_t index);

/* How many items have a key below this one; the first that has not stands there. */
static inline size_t count_below(const void *items, size_t count, uint64_t key, key_at *key_of)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_of(items, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether an item has this key; *ret is its index, or the one where it would stand. */
static inline bool find_sorted(const void *items, size_t count, uint64_t key, key_at *key_of,
			       size_t *ret)
{
	*ret = count_below(items, count, key, key_of);
	return *ret < count && key_of(items, *ret) == key;
}

/* How many items have this key or one below. */
static inline size_t count_up_to(const void *items, size_t count, uint64_t key, key_at *key_of)
{
	return key == UINT64_MAX ? count : count_below(items, count, key + 1, key_of);
}

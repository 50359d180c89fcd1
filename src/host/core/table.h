/*
 * A table from pairs of numbers to pairs of numbers.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct table_entry {
	uint64_t a, b; /* the key */
	uint64_t value, more;
	bool is_used;
};

struct table {
	struct table_entry *entries;
	size_t count, room;
};

/* The entry with this key, or NULL. */
struct table_entry *table_find(const struct table *table, uint64_t a, uint64_t b);

/* Adds the entry, with values of 0, if there is none; NULL: no memory.  Entries move when one is
 * added or removed. */
struct table_entry *table_make(struct table *table, uint64_t a, uint64_t b, bool *ret_is_new);

/* Reserves room at once: growing step by step takes longer.  False: no memory. */
bool table_reserve(struct table *table, size_t count) MUST_CHECK;

void table_remove(struct table *table, struct table_entry *entry);
void table_done(struct table *table);

/*
 * Open addressing with linear probing; removal leaves no gaps.
 */
#include "host/core/table.h"

#include <stdlib.h>

#define LEAST_ROOM 64u

static uint64_t table_mix(uint64_t value)
{
	value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
	return value ^ value >> 29;
}

static size_t table_home(const struct table *table, uint64_t a, uint64_t b)
{
	return table_mix(a + table_mix(b)) & (table->room - 1);
}

/* Where the key is, or where it would go.  There is always a free slot. */
static struct table_entry *table_slot(const struct table *table, uint64_t a, uint64_t b)
{
	size_t at = table_home(table, a, b);

	while (table->entries[at].is_used &&
	       (table->entries[at].a != a || table->entries[at].b != b))
		at = (at + 1) & (table->room - 1);
	return &table->entries[at];
}

static bool table_resize(struct table *table, size_t room)
{
	struct table bigger = { .count = table->count, .room = room };

	bigger.entries = calloc(bigger.room, sizeof(*bigger.entries));
	if (!bigger.entries)
		return false;
	for (size_t i = 0; i < table->room; i++)
		if (table->entries[i].is_used)
			*table_slot(&bigger, table->entries[i].a, table->entries[i].b) =
				table->entries[i];
	free(table->entries);
	*table = bigger;
	return true;
}

bool table_reserve(struct table *table, size_t count)
{
	size_t room = table->room ? table->room : LEAST_ROOM;

	while (room / 2 < count)
		room *= 2;
	return room == table->room || table_resize(table, room);
}

struct table_entry *table_find(const struct table *table, uint64_t a, uint64_t b)
{
	struct table_entry *entry = table->room ? table_slot(table, a, b) : NULL;

	return entry && entry->is_used ? entry : NULL;
}

struct table_entry *table_make(struct table *table, uint64_t a, uint64_t b, bool *ret_is_new)
{
	struct table_entry *entry;

	if (table->count >= table->room / 2 && !table_reserve(table, table->count + 1))
		return NULL;
	entry = table_slot(table, a, b);
	*ret_is_new = !entry->is_used;
	if (!entry->is_used) {
		*entry = (struct table_entry){ .a = a, .b = b, .is_used = true };
		table->count++;
	}
	return entry;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	size_t mask = table->room - 1, gap = (size_t)(entry - table->entries), at = gap;

	for (;;) {
		const struct table_entry *next;

		at = (at + 1) & mask;
		next = &table->entries[at];
		if (!next->is_used)
			break;
		/* It may move up only when its home is not between the gap and itself. */
		if (((at - table_home(table, next->a, next->b)) & mask) < ((at - gap) & mask))
			continue;
		table->entries[gap] = *next;
		gap = at;
	}
	table->entries[gap].is_used = false;
	table->count--;
}

void table_done(struct table *table)
{
	free(table->entries);
	*table = (struct table){ 0 };
}

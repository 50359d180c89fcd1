/*
 * The library of a table may be unmapped, and another one mapped there: a table that the host has
 * found is checked again once its library is held.
 */
#include "target/amd/show.h"

#include "target/amd/engine.h"
#include "target/amd/registry.h"
#include "target/amd/tables/read.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#include <errno.h>

static bool library_hold(struct telling *self, uint64_t address)
{
	void *library =
		self->count < ARRAY_SIZE(self->libraries) ? libc_hold((const void *)address) : NULL;

	if (library)
		self->libraries[self->count++] = library;
	return library;
}

static bool leads_inside(const uint64_t *slot)
{
	return libc_are_of_one(slot, (const void *)__atomic_load_n(slot, __ATOMIC_RELAXED));
}

/* True if the first and last function are in the table's own library, as when the host found the
 * table. The host checks only the first of HSA's tables. */
static bool is_whole(const struct agent_table *found)
{
	bool is_known = false;

	for (unsigned i = 0; i < API_TABLES; i++) {
		const struct api_table *table = &api_tables[i];
		uint64_t *slots;
		unsigned count;

		if (!text_equal(table->registered, found->name) || (table->is_of_hsa && is_known))
			continue;
		count = table_read(found, table, &slots);
		if (!count || !leads_inside(&slots[0]) || !leads_inside(&slots[count - 1]))
			return false;
		is_known = true;
	}
	return is_known;
}

/* Called with the table's library held. */
static int table_tell(struct agent_table *table)
{
	unsigned index;
	int r = tables_note_kept(table, &index);

	if (r > TABLE_KNOWN)
		sdk_table_came(index, r == TABLE_RESTARTED);
	return MIN(r, 0);
}

static int found_tell(struct telling *self)
{
	if (!library_hold(self, self->found.parts[0]) || !is_whole(&self->found))
		return -ENXIO;
	return table_tell(&self->found);
}

void telling_run(struct telling *self)
{
	struct agent_table table;

	if (self->found.part_count)
		self->result = found_tell(self);
	while (tables_next_kept(&table))
		if (library_hold(self, table.parts[0]))
			(void)!table_tell(&table);
}

/* Other tools may have functions in a table, but not in all its slots; limpet's stubs may be in
 * all. */
static bool has_own(const uint64_t *slots, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (libc_are_of_one(&slots[i], (const void *)entry_original(&slots[i])))
			return true;
	return false;
}

static bool is_still_one(const struct agent_table *known)
{
	for (unsigned i = 0; i < API_TABLES; i++) {
		uint64_t *slots;
		unsigned count = table_read(known, &api_tables[i], &slots);

		if (count && has_own(slots, count))
			return true;
	}
	return false;
}

void telling_hold(struct telling *self, void (*visit)(unsigned index))
{
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (library_hold(self, agent_page.tables[i].parts[0]) && visit &&
		    is_still_one(&agent_page.tables[i]))
			visit(i);
}

void telling_release(struct telling *self)
{
	while (self->count)
		libc_close(self->libraries[--self->count]);
}

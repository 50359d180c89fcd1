/*
 * The library of a table may be unmapped, and another one mapped there: a table that the host has
 * found is checked again once its library is held.
 */
#include "target/amd/show.h"

#include "target/amd/engine.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/tables/read.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#include <errno.h>

#define EXPORT __attribute__((visibility("default")))

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
static int table_hand_over(struct agent_table *table)
{
	unsigned index;
	int r = tables_note_kept(table, &index);

	if (r > TABLE_KNOWN)
		sdk_table_came(index, r == TABLE_RESTARTED);
	return MIN(r, 0);
}

static int found_hand_over(struct telling *self)
{
	if (!telling_hold_library(self, self->found.parts[0]) || !is_whole(&self->found))
		return -ENXIO;
	return table_hand_over(&self->found);
}

void telling_run(struct telling *self)
{
	struct agent_table table;

	if (self->found.part_count)
		self->result = found_hand_over(self);
	while (tables_next_kept(&table))
		if (telling_hold_library(self, table.parts[0]))
			(void)!table_hand_over(&table);
}

int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data)
{
	(void)data;
	return tables_keep(name, version, instance, parts, part_count, sdk_has_tools());
}

/* Called by AMD's register library, and by limpet's if a tool is there from the start. */
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count)
{
	unsigned index;
	int r;

	if (tables_turn_asks())
		return tables_take(name, version, instance, parts, part_count, NULL)
			       ? SDK_INVALID_ARGUMENT
			       : SDK_SUCCESS;
	r = tables_note_at(name, version, instance, parts, part_count, &index);
	if (r < 0)
		return SDK_INVALID_ARGUMENT;
	sdk_table_came(index, r == TABLE_RESTARTED);
	return SDK_SUCCESS;
}

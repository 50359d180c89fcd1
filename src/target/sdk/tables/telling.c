/*
 * Where a library was unmapped another may be by now: what the host has found is looked at again
 * once its library is held.
 */
#include "target/sdk/tables/telling.h"

#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"
#include "target/sdk/sdk.h"
#include "target/sdk/signatures/signature.h"
#include "target/sdk/tables/intercept.h"
#include "target/sdk/tables/tables.h"

#include <errno.h>

static bool library_hold(struct telling *self, unsigned room, uint64_t address)
{
	void *library = self->count < room ? libc_hold((const void *)address) : NULL;

	if (library)
		self->libraries[self->count++] = library;
	return library;
}

static bool leads_inside(const uint64_t *slot)
{
	return libc_are_of_one(slot, (const void *)__atomic_load_n(slot, __ATOMIC_RELAXED));
}

/* Its first and its last function are the library's own, as when it was found.  Of HSA's tables the
 * first alone was looked at. */
static bool is_whole(const struct agent_table *found)
{
	bool is_known = false;

	for (unsigned i = 0; i < API_TABLES; i++) {
		const struct api_table *table = &api_tables[i];
		uint64_t *slots;
		unsigned count;

		if (!text_equal(table->registered, found->name) || (table->is_of_hsa && is_known))
			continue;
		count = intercept_read(found, table, &slots);
		if (!count || !leads_inside(&slots[0]) || !leads_inside(&slots[count - 1]))
			return false;
		is_known = true;
	}
	return is_known;
}

static int found_take(struct telling *self)
{
	struct agent_table *found = &self->found;

	if (!library_hold(self, 1, found->parts[0]) || !is_whole(found))
		return -ENXIO;
	return tables_take(found->name, 0, 0, (void **)found->parts, found->part_count, NULL);
}

void telling_run(struct telling *self)
{
	bool has_restarted;
	unsigned index;

	tables_turn_begin();
	if (self->found.part_count)
		self->result = found_take(self);
	while (tables_next_untold(&index, &has_restarted))
		if (library_hold(self, ARRAY_SIZE(self->libraries),
				 agent_page.tables[index].parts[0]))
			sdk_table_came(index, has_restarted);
}

void telling_release(struct telling *self)
{
	while (self->count)
		libc_close(self->libraries[--self->count]);
}

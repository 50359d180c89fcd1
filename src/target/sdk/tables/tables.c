/*
 * Any thread of the program may register a runtime; readers outside see an entry once it is whole.
 */
#include "target/sdk/tables/tables.h"

#include "target/runtime/page.h"
#include "target/runtime/readable.h"
#include "target/runtime/text.h"
#include "target/sdk/sdk.h"
#include "target/sdk/status.h"

#include <errno.h>

#define SPINS_MAX 10000000u
#define UNNAMED   "unnamed"
#define ALIGNED   8u /* what is read at once, and lies in one page */

#define EXPORT __attribute__((visibility("default")))

static uint32_t is_writing;               /* a spin lock around a few stores */
static uint64_t newest[AGENT_TABLES_MAX]; /* instance of each table */

static bool is_of_a_name(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_';
}

/* AMD's library keeps the pointer that a runtime gave it, and what it points to may be gone: the
 * memory, or the text.  False: no name. */
static bool name_read(const char *name, char ret[TABLE_NAME_MAX])
{
	for (unsigned i = 0; i < TABLE_NAME_MAX; i++) {
		uint64_t at = (uint64_t)(name + i);

		if ((!i || at % ALIGNED == 0) && !is_readable(ALIGN_DOWN(at, ALIGNED)))
			return false;
		ret[i] = name[i];
		if (!ret[i])
			return i > 0;
		if (!is_of_a_name(ret[i]))
			return false;
	}
	return false;
}

/* Its index; that of the next, where it is not known. */
static unsigned table_find(const char *name, void **parts, uint64_t part_count)
{
	unsigned i;

	for (i = 0; i < agent_page.table_count; i++) {
		const struct agent_table *table = &agent_page.tables[i];

		if (text_equal(table->name, name) && table->part_count == part_count &&
		    table->parts[0] == (uint64_t)parts[0])
			break;
	}
	return i;
}

/* A runtime that starts again registers the same tables again, as a later instance; a register
 * library may hand over all that it has once more at any time. */
static bool table_renew(unsigned index, uint64_t instance)
{
	if (instance <= newest[index])
		return false;
	newest[index] = instance;
	return true;
}

bool tables_have(const char *name)
{
	char own[TABLE_NAME_MAX];

	if (!name_read(name, own))
		return true;
	for (unsigned i = 0; i < agent_page.table_count; i++)
		if (text_equal(agent_page.tables[i].name, own))
			return true;
	return false;
}

/* 1: it is known, and its runtime has started again. */
static int table_add(const char *name, uint64_t version, uint64_t instance, void **parts,
		     uint64_t part_count)
{
	unsigned index = table_find(name, parts, part_count);
	struct agent_table *table = &agent_page.tables[index];

	if (index < agent_page.table_count)
		return table_renew(index, instance);
	if (index == AGENT_TABLES_MAX)
		return -ENOSPC;
	newest[index] = instance;
	text_add(table->name, sizeof(table->name), 0, name);
	table->version = version;
	table->instance = instance;
	table->part_count = (uint32_t)part_count;
	for (unsigned i = 0; i < part_count; i++)
		table->parts[i] = (uint64_t)parts[i];
	/* Release: a reader that sees the count sees the entry. */
	__atomic_store_n(&agent_page.table_count, agent_page.table_count + 1, __ATOMIC_RELEASE);
	return 0;
}

static int table_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		      uint64_t part_count)
{
	char own[TABLE_NAME_MAX];
	uint32_t nobody = 0, spins = 0;
	int r;

	if (!name || !parts || !part_count || part_count > TABLE_PARTS_MAX)
		return -EINVAL;
	/* A writer is done in less than a microsecond and calls nothing; but a child that was
	 * forked just then has its parent's word, and nobody who will take it back. */
	while (!__atomic_compare_exchange_n(&is_writing, &nobody, 1, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		nobody = 0;
		if (++spins == SPINS_MAX)
			return -EBUSY;
	}
	r = table_add(name_read(name, own) ? own : UNNAMED, version, instance, parts, part_count);
	__atomic_store_n(&is_writing, 0, __ATOMIC_RELEASE);
	return r;
}

int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count)
{
	int r = table_note(name, version, instance, parts, part_count);

	return MIN(r, 0);
}

void tables_adopt(void)
{
	is_writing = 0;
}

int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data)
{
	(void)data;
	return tables_note(name, version, instance, parts, part_count);
}

void tables_tell(uint64_t first_part, bool has_restarted)
{
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	for (uint32_t index = 0; index < count; index++)
		if (agent_page.tables[index].parts[0] == first_part)
			sdk_table_came(index, has_restarted);
}

/* Called by AMD's register library, and by ours when a tool is there from the start. */
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count)
{
	int r = table_note(name, version, instance, parts, part_count);

	if (r < 0)
		return SDK_INVALID_ARGUMENT;
	tables_tell((uint64_t)parts[0], r);
	return SDK_SUCCESS;
}

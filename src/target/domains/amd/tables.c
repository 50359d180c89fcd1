/*
 * Walks the tables that the agent knows. A table contains its number of slots; slots are named by
 * their order, and unknown slots by their number. A function that another tool has stored into a
 * slot is called as the original.
 */
#include "target/domains/amd/tables.h"

#include "shared/wire/page.h"
#include "target/domains/amd/hsa/life.h"
#include "target/domains/amd/hsa/scratch.h"
#include "target/domains/amd/slots.h"
#include "target/domains/amd/wants.h"
#include "target/hooks/table.h"
#include "target/runtime/text.h"

#include <errno.h>

#define SLOTS_MAX       2048u
#define UNNAMED_MAX     512u
#define UNNAMED_LETTERS 32u
#define HSA_HEAD_WORDS  2u
#define HSA_TOOLS_PART  4u

/* A slot without a known name. */
struct unnamed {
	const struct slot_list *list;
	unsigned slot;
	struct traced traced;
	char name[UNNAMED_LETTERS];
};

static struct unnamed unnamed[UNNAMED_MAX];
static unsigned unnamed_count;
static tables_source *known_tables;

void tables_use(tables_source *tables)
{
	known_tables = tables;
}

/* Returns the description of a slot without a name; NULL if there are too many. */
static const struct traced *find_unnamed(const struct slot_list *list, unsigned slot)
{
	struct unnamed *entry = unnamed;
	size_t length;

	while (entry < unnamed + unnamed_count && (entry->list != list || entry->slot != slot))
		entry++;
	if (entry < unnamed + unnamed_count)
		return &entry->traced;
	if (unnamed_count == UNNAMED_MAX)
		return NULL;
	unnamed_count++;
	entry->list = list;
	entry->slot = slot;
	length = text_add(entry->name, sizeof(entry->name), 0, list->table);
	length = text_add(entry->name, sizeof(entry->name), length, " slot ");
	text_add_number(entry->name, sizeof(entry->name), length, slot);
	entry->traced = (struct traced)SLOT_PLAIN(unnamed, list->domain, HOOK_ANY, NULL);
	entry->traced.name = entry->name;
	return &entry->traced;
}

static const struct traced *traced_of(const struct slot_list *list, const struct live_table *table,
				      unsigned slot)
{
	bool is_known = slot < list->count && !(list->may_differ && table->count > list->count);

	return is_known ? &list->traced[slot] : find_unnamed(list, slot);
}

bool tables_have(const char *name)
{
	const struct agent_table *tables;
	uint32_t count = known_tables(&tables);

	while (count && !text_equal(tables[count - 1].name, name))
		count--;
	return count > 0;
}

/* Functions whose hooks write records of other domains. */
static bool has_work(const struct traced *traced)
{
	bool wants_commands = amd_wants(DOMAIN_KERNEL) || amd_wants(DOMAIN_COPY);

	if (traced->domain == DOMAIN_HIP_RUNTIME)
		return traced->write && wants_commands;
	if (hsa_life_needs(traced))
		return wants_commands || amd_wants(DOMAIN_MEMORY) || amd_wants(DOMAIN_COUNTER) ||
		       amd_wants(DOMAIN_WINDOW);
	if (traced->before || traced->after)
		return (wants_commands && !tables_have("hip")) || amd_wants(DOMAIN_COUNTER);
	return traced->write && amd_wants(DOMAIN_MEMORY) && traced->domain != DOMAIN_MARKER;
}

/* A slot that another tool has overwritten stays as it is; one that was reset is hooked again. A
 * value that points into no module's code is no function. */
static bool is_left_alone(const uint64_t *entry, uint64_t value)
{
	return !value || hook_is_stub(value) || !got_has_code(value) ||
	       (patch_is_known(entry) && patch_old(entry) != value);
}

static void hook_slot(const struct slot_list *list, const struct live_table *table, unsigned slot,
		      struct got_report *report)
{
	uint64_t *entry = &table->slots[slot];
	uint64_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	const struct traced *traced = traced_of(list, table, slot);

	if (is_left_alone(entry, value))
		return;
	if (traced && !amd_wants(list->domain) && !has_work(traced))
		return;
	table_report(traced ? table_hook(entry, traced,
					 traced->name ? traced->name : traced->symbol,
					 got_library(value))
			    : -ENOSPC,
		     report);
}

static void look_at(const struct slot_list *list, const struct live_table *table,
		    struct got_report *report)
{
	for (unsigned i = 0; i < table->count; i++)
		hook_slot(list, table, i, report);
	if (!amd_wants(list->domain))
		return;
	report->domains |= 1u << list->domain;
	got_cover((uint64_t)table->slots, list->domain);
}

/* Tables are variables of their library: the loader's lock is held, so mapped modules stay. At the
 * address of an unmapped library there may be another mapping. */
static bool is_there(uint64_t address, uint64_t size)
{
	return address % sizeof(uint64_t) == 0 && got_has_data(address) &&
	       got_has_data(address + size - 1);
}

static bool is_whole(const struct live_table *table)
{
	return table->count && table->count <= SLOTS_MAX &&
	       is_there((uint64_t)table->slots, table->count * sizeof(uint64_t));
}

/* {size in bytes, slots} */
static bool read_sized(uint64_t address, struct live_table *ret)
{
	uint64_t words;

	if (!is_there(address, sizeof(uint64_t)))
		return false;
	words = *(const uint64_t *)address / sizeof(uint64_t);
	*ret = (struct live_table){ (uint64_t *)address + 1,
				    words < 2 ? 0 : (unsigned)MIN(words - 1, SLOTS_MAX + 1ull) };
	return is_whole(ret);
}

/* {u32 major, u32 size in bytes, u32 step, u32 reserved, slots} */
static bool read_versioned(uint64_t address, struct live_table *ret)
{
	uint64_t words;

	if (!is_there(address, sizeof(uint64_t)))
		return false;
	words = (*(const uint64_t *)address >> 32) / sizeof(uint64_t);
	*ret = (struct live_table){ (uint64_t *)address + HSA_HEAD_WORDS,
				    words <= HSA_HEAD_WORDS ? 0
							    : (unsigned)MIN(words - HSA_HEAD_WORDS,
									    SLOTS_MAX + 1ull) };
	return is_whole(ret);
}

bool tables_hsa_part(const struct agent_table *known, unsigned part, struct live_table *ret)
{
	struct live_table root;

	return read_versioned(known->parts[0], &root) && part < root.count && root.slots[part] &&
	       read_versioned(root.slots[part], ret);
}

static bool find_part(const struct slot_list *list, const struct agent_table *known,
		      struct live_table *ret)
{
	if (!text_equal(list->table, known->name))
		return false;
	if (list->is_of_hsa)
		return tables_hsa_part(known, list->part, ret);
	return list->part < known->part_count && read_sized(known->parts[list->part], ret);
}

static const struct {
	const struct slot_list *lists;
	unsigned count;
} families[] = {
	{ hip_lists, ARRAY_SIZE(hip_lists) },     { hsa_lists, ARRAY_SIZE(hsa_lists) },
	{ rccl_lists, ARRAY_SIZE(rccl_lists) },   { media_lists, ARRAY_SIZE(media_lists) },
	{ roctx_lists, ARRAY_SIZE(roctx_lists) },
};

static void look_at_all(const struct agent_table *known, struct got_report *report)
{
	struct live_table table;

	for (unsigned i = 0; i < ARRAY_SIZE(families); i++)
		for (unsigned j = 0; j < families[i].count; j++)
			if (find_part(&families[i].lists[j], known, &table))
				look_at(&families[i].lists[j], &table, report);
	if (amd_wants(DOMAIN_SCRATCH) && text_equal(known->name, "hsa") &&
	    tables_hsa_part(known, HSA_TOOLS_PART, &table) &&
	    scratch_hook(table.slots, table.count))
		report->domains |= 1u << DOMAIN_SCRATCH;
}

static void look_in_loader(void *context)
{
	const struct agent_table *tables;
	uint32_t count = known_tables(&tables);

	table_begin();
	for (uint32_t i = 0; i < count; i++)
		look_at_all(&tables[i], context);
	table_end();
}

void tables_look(bool have_modules_changed, struct got_report *report)
{
	if (!known_tables)
		return;
	/* The agent may learn of tables at any time. */
	if (!have_modules_changed)
		got_look_around();
	got_in_loader(look_in_loader, report);
}

bool tables_hip(const struct agent_table *known, struct live_table *ret)
{
	return text_equal(known->name, "hip") && read_sized(known->parts[0], ret);
}

/* got_hold() keeps the library of each table loaded meanwhile. */
void tables_each(tables_visitor *visit, struct got_report *report)
{
	const struct agent_table *tables;
	uint32_t count = known_tables ? known_tables(&tables) : 0;

	for (uint32_t i = 0; i < count; i++) {
		void *library = got_hold(tables[i].parts[0]);

		if (library)
			visit(&tables[i], report);
		got_release(library);
	}
}

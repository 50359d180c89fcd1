/*
 * Any application thread may register a runtime; other processes read complete entries only.
 */
#include "target/amd/registry.h"

#include "shared/arch/syscall.h"
#include "target/amd/tables/read.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/readable.h"
#include "target/runtime/text.h"

#include <errno.h>

#define SPINS_MAX 10000000u
#define UNNAMED   "unnamed"
#define ALIGNED   8u /* bytes that one check covers; never cross a page */

static uint32_t is_writing;               /* a spin lock around a few stores */
static uint64_t newest[AGENT_TABLES_MAX]; /* instance of each table */
static int32_t asker; /* tid that requests tables; -1: turn taken, no request; 0: free */
static struct agent_table kept[AGENT_TABLES_MAX]; /* tables given to that thread */
static unsigned kept_count;

static bool is_of_a_name(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_';
}

/* AMD's library keeps the name pointer that a runtime gave it; the memory may be unmapped or
 * reused. False: no readable name. */
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

struct name_question {
	const char *name;
	char *ret;
	bool is_asked, has_name;
};

/* Called for the first module only. The loader is held meanwhile, so the library with the name
 * stays mapped. */
static int name_read_held(struct dl_phdr_info *info, size_t size, void *data)
{
	struct name_question *question = data;

	(void)info, (void)size;
	question->is_asked = true;
	question->has_name = name_read(question->name, question->ret);
	return 1;
}

static bool name_copy(const char *name, char ret[TABLE_NAME_MAX])
{
	struct name_question question = { name, ret, false, false };

	libc_iterate(name_read_held, &question);
	return question.is_asked ? question.has_name : name_read(name, ret);
}

/* The index of a known table, else the index for a new one. */
static unsigned table_find(const char *name, uint64_t first_part, uint64_t part_count)
{
	unsigned i;

	for (i = 0; i < agent_page.table_count; i++) {
		const struct agent_table *table = &agent_page.tables[i];

		if (text_equal(table->name, name) && table->part_count == part_count &&
		    table->parts[0] == first_part)
			break;
	}
	return i;
}

/* A restarted runtime registers the same tables as a later instance. A register library may also
 * repeat all its registrations at any time. */
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

	if (!name_copy(name, own))
		return true;
	for (unsigned i = 0; i < agent_page.table_count; i++)
		if (text_equal(agent_page.tables[i].name, own))
			return true;
	return false;
}

static void table_fill(struct agent_table *table, const char *name, uint64_t version,
		       uint64_t instance, void **parts, uint64_t part_count)
{
	text_add(table->name, sizeof(table->name), 0, name);
	table->version = version;
	table->instance = instance;
	table->part_count = (uint32_t)part_count;
	for (unsigned i = 0; i < part_count; i++)
		table->parts[i] = (uint64_t)parts[i];
}

static int table_add(const char *name, uint64_t version, uint64_t instance, void **parts,
		     uint64_t part_count, unsigned *ret_index)
{
	unsigned index = *ret_index = table_find(name, (uint64_t)parts[0], part_count);
	struct agent_table *table = &agent_page.tables[index];

	if (index < agent_page.table_count)
		return table_renew(index, instance) ? TABLE_RESTARTED : TABLE_KNOWN;
	if (index == AGENT_TABLES_MAX)
		return -ENOSPC;
	newest[index] = instance;
	table_fill(table, name, version, instance, parts, part_count);
	/* Release: a reader that sees the count sees the entry. */
	__atomic_store_n(&agent_page.table_count, agent_page.table_count + 1, __ATOMIC_RELEASE);
	return TABLE_NEW;
}

int tables_note_at(const char *name, uint64_t version, uint64_t instance, void **parts,
		   uint64_t part_count, unsigned *ret_index)
{
	char own[TABLE_NAME_MAX];
	uint32_t none = 0, spins = 0;
	int r;

	if (!name || !parts || !part_count || part_count > TABLE_PARTS_MAX)
		return -EINVAL;
	/* A writer takes less than a microsecond and calls nothing. A child forked meanwhile
	 * inherits the lock without a thread that would release it. */
	while (!__atomic_compare_exchange_n(&is_writing, &none, 1, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = 0;
		if (++spins == SPINS_MAX)
			return -EBUSY;
	}
	r = table_add(name_read(name, own) ? own : UNNAMED, version, instance, parts, part_count,
		      ret_index);
	__atomic_store_n(&is_writing, 0, __ATOMIC_RELEASE);
	return r;
}

int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count)
{
	unsigned index;
	int r = tables_note_at(name, version, instance, parts, part_count, &index);

	return MIN(r, 0);
}

int tables_note_kept(struct agent_table *table, unsigned *ret_index)
{
	return tables_note_at(table->name, table->version, table->instance, (void **)table->parts,
			      table->part_count, ret_index);
}

bool tables_turn_take(void)
{
	int32_t none = 0;

	if (!__atomic_compare_exchange_n(&asker, &none, -1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	kept_count = 0;
	return true;
}

void tables_turn_ask(bool is_asking)
{
	__atomic_store_n(&asker, is_asking ? (int32_t)raw0(SYS_gettid) : -1, __ATOMIC_RELAXED);
}

bool tables_turn_asks(void)
{
	return __atomic_load_n(&asker, __ATOMIC_RELAXED) == (int32_t)raw0(SYS_gettid);
}

void tables_turn_end(void)
{
	__atomic_store_n(&asker, 0, __ATOMIC_RELEASE);
}

void tables_adopt(void)
{
	is_writing = 0;
	asker = 0;
}

/* Called on the requesting thread. The register library may hold locks, so tools are notified
 * later. Tables that do not fit are not noted, so that they are requested again. */
int tables_keep(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, bool has_tools)
{
	char own[TABLE_NAME_MAX];

	if (!name || !parts || !part_count || part_count > TABLE_PARTS_MAX)
		return -EINVAL;
	name = name_copy(name, own) ? own : UNNAMED;
	if (!has_tools)
		return tables_note(name, version, instance, parts, part_count);
	if (kept_count == AGENT_TABLES_MAX)
		return -ENOSPC;
	kept[kept_count] = (struct agent_table){ 0 };
	table_fill(&kept[kept_count++], name, version, instance, parts, part_count);
	return 0;
}

static bool is_known(const struct agent_table *table)
{
	unsigned index = table_find(table->name, table->parts[0], table->part_count);

	return index < agent_page.table_count && table->instance <= newest[index];
}

bool tables_next_kept(struct agent_table *ret)
{
	for (unsigned i = 0; i < kept_count; i++) {
		if (!kept[i].part_count)
			continue;
		*ret = kept[i];
		kept[i].part_count = 0;
		if (!is_known(ret))
			return true;
	}
	return false;
}

bool telling_hold_library(struct telling *self, uint64_t address)
{
	void *library =
		self->count < ARRAY_SIZE(self->libraries) ? libc_hold((const void *)address) : NULL;

	if (library)
		self->libraries[self->count++] = library;
	return library;
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
		if (telling_hold_library(self, agent_page.tables[i].parts[0]) && visit &&
		    is_still_one(&agent_page.tables[i]))
			visit(i);
}

void telling_release(struct telling *self)
{
	while (self->count)
		libc_close(self->libraries[--self->count]);
}

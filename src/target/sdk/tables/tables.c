/*
 * Any thread of the program may register a runtime; readers outside see an entry once it is whole.
 */
#include "target/sdk/tables/tables.h"

#include "shared/arch/syscall.h"
#include "target/runtime/libc_calls.h"
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

enum noted {
	NOTED_BEFORE,
	NOTED_AGAIN, /* known, and its runtime has started again */
	NOTED_NEW,
};

static uint32_t is_writing;               /* a spin lock around a few stores */
static uint64_t newest[AGENT_TABLES_MAX]; /* instance of each table */
static int32_t asker;                     /* the thread that has the turn; -1: not yet; 0: none */
static uint8_t untold[AGENT_TABLES_MAX];  /* enum noted, of what that thread was given */

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

struct name_question {
	const char *name;
	char *ret;
	bool is_asked, has_name;
};

/* Called for the first module; the loader is held meanwhile, and the library that has the name
 * stays. */
static int name_read_held(struct dl_phdr_info *info, size_t size, void *data)
{
	struct name_question *question = data;

	(void)info, (void)size;
	question->is_asked = true;
	question->has_name = name_read(question->name, question->ret);
	return 1;
}

static bool name_take(const char *name, char ret[TABLE_NAME_MAX])
{
	struct name_question question = { name, ret, false, false };

	libc_iterate(name_read_held, &question);
	return question.is_asked ? question.has_name : name_read(name, ret);
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

	if (!name_take(name, own))
		return true;
	for (unsigned i = 0; i < agent_page.table_count; i++)
		if (text_equal(agent_page.tables[i].name, own))
			return true;
	return false;
}

static int table_add(const char *name, uint64_t version, uint64_t instance, void **parts,
		     uint64_t part_count, unsigned *ret_index)
{
	unsigned index = *ret_index = table_find(name, parts, part_count);
	struct agent_table *table = &agent_page.tables[index];

	if (index < agent_page.table_count)
		return table_renew(index, instance) ? NOTED_AGAIN : NOTED_BEFORE;
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
	return NOTED_NEW;
}

static int table_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		      uint64_t part_count, unsigned *ret_index)
{
	char own[TABLE_NAME_MAX];
	uint32_t nobody = 0, spins = 0;
	bool has_name;
	int r;

	if (!name || !parts || !part_count || part_count > TABLE_PARTS_MAX)
		return -EINVAL;
	has_name = name_take(name, own);
	/* A writer is done in less than a microsecond and calls nothing; but a child that was
	 * forked just then has its parent's word, and nobody who will take it back. */
	while (!__atomic_compare_exchange_n(&is_writing, &nobody, 1, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		nobody = 0;
		if (++spins == SPINS_MAX)
			return -EBUSY;
	}
	r = table_add(has_name ? own : UNNAMED, version, instance, parts, part_count, ret_index);
	__atomic_store_n(&is_writing, 0, __ATOMIC_RELEASE);
	return r;
}

int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count)
{
	unsigned index;
	int r = table_note(name, version, instance, parts, part_count, &index);

	return MIN(r, 0);
}

bool tables_turn_take(void)
{
	int32_t nobody = 0;

	return __atomic_compare_exchange_n(&asker, &nobody, -1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void tables_turn_begin(void)
{
	__atomic_store_n(&asker, (int32_t)raw0(SYS_gettid), __ATOMIC_RELAXED);
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

/* By the thread that asks: whoever answers may hold locks of its own, so tools are told after. */
static int table_keep(const char *name, uint64_t version, uint64_t instance, void **parts,
		      uint64_t part_count)
{
	unsigned index;
	int r = table_note(name, version, instance, parts, part_count, &index);

	if (r > NOTED_BEFORE && sdk_has_tools())
		untold[index] = (uint8_t)MAX(untold[index], r);
	return MIN(r, 0);
}

int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data)
{
	(void)data;
	return table_keep(name, version, instance, parts, part_count);
}

bool tables_next_untold(unsigned *ret_index, bool *ret_has_restarted)
{
	for (unsigned index = 0; index < AGENT_TABLES_MAX; index++) {
		enum noted noted = untold[index];

		if (noted == NOTED_BEFORE)
			continue;
		untold[index] = NOTED_BEFORE;
		*ret_index = index;
		*ret_has_restarted = noted == NOTED_AGAIN;
		return true;
	}
	return false;
}

/* Called by AMD's register library, and by ours when a tool is there from the start. */
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count);

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **parts, uint64_t part_count)
{
	unsigned index;
	int r;

	if (__atomic_load_n(&asker, __ATOMIC_RELAXED) == (int32_t)raw0(SYS_gettid))
		return table_keep(name, version, instance, parts, part_count) ? SDK_INVALID_ARGUMENT
									      : SDK_SUCCESS;
	r = table_note(name, version, instance, parts, part_count, &index);
	if (r < 0)
		return SDK_INVALID_ARGUMENT;
	sdk_table_came(index, r == NOTED_AGAIN);
	return SDK_SUCCESS;
}

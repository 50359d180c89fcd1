/*
 * Lists that only grow while tools are configured.
 */
#include "target/sdk/notify.h"

#include "target/runtime/page.h"
#include "target/runtime/text.h"
#include "target/sdk/contexts.h"
#include "target/sdk/signature.h"
#include "target/sdk/status.h"
#include "target/sdk/threads.h"

#define WISHES_MAX 32u

struct table_wish {
	int32_t tool;
	int32_t tables; /* bits; 0: all */
	table_function *callback;
	void *data;
	uint32_t shown[AGENT_TABLES_MAX]; /* bits: parts of each registration */
};

struct thread_wish {
	int32_t tool;
	int32_t libraries;
	library_function *before, *after;
	void *data;
};

static struct table_wish table_wishes[WISHES_MAX];
static struct thread_wish thread_wishes[WISHES_MAX];
static uint32_t table_wish_count, thread_wish_count;
static uint32_t has_shown; /* bits: tools */

void notify_thread(bool is_made)
{
	uint32_t count = __atomic_load_n(&thread_wish_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		const struct thread_wish *wish = &thread_wishes[i];
		library_function *call = is_made ? wish->after : wish->before;

		if (call && (!wish->libraries || wish->libraries & LIBRARY_SDK))
			call(LIBRARY_SDK, wish->data);
	}
}

static int bit_of(const struct agent_table *table, unsigned part)
{
	for (unsigned i = 0; i < API_TABLES; i++)
		if (text_equal(api_tables[i].registered, table->name) &&
		    api_tables[i].part == (api_tables[i].is_of_hsa ? 0 : part))
			return api_tables[i].table_bit;
	return 0;
}

/* Parts are shown one by one, as AMD's library does. */
static void show_part(struct table_wish *wish, unsigned index, unsigned part)
{
	const struct agent_table *table = &agent_page.tables[index];
	void *tables[1] = { (void *)table->parts[part] };
	int bit = bit_of(table, part);
	struct sdk_thread *thread = sdk_thread_mine();
	uint64_t before;

	if (!bit || (wish->tables && !(wish->tables & bit)) || !thread ||
	    __atomic_fetch_or(&wish->shown[index], 1u << part, __ATOMIC_ACQ_REL) & 1u << part)
		return;
	__atomic_fetch_or(&has_shown, 1u << wish->tool, __ATOMIC_SEQ_CST);
	before = sdk_thread_enter_tool(thread, (unsigned)wish->tool);
	if (wish->callback)
		wish->callback(bit, table->version, table->instance, tables, 1, wish->data);
	sdk_thread_leave_tool(thread, before);
}

void notify_tables(void)
{
	uint32_t wishes = __atomic_load_n(&table_wish_count, __ATOMIC_ACQUIRE);
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < wishes; i++)
		for (uint32_t j = 0; j < count && table_wishes[i].callback; j++)
			for (uint32_t part = 0; part < agent_page.tables[j].part_count; part++)
				show_part(&table_wishes[i], j, part);
}

bool notify_has_shown(int tool)
{
	return __atomic_load_n(&has_shown, __ATOMIC_SEQ_CST) & 1u << tool;
}

void notify_forget(int tool)
{
	for (uint32_t i = 0; i < table_wish_count; i++)
		if (table_wishes[i].tool == tool)
			__atomic_store_n(&table_wishes[i].callback, NULL, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < thread_wish_count; i++)
		if (thread_wishes[i].tool == tool) {
			__atomic_store_n(&thread_wishes[i].before, NULL, __ATOMIC_RELEASE);
			__atomic_store_n(&thread_wishes[i].after, NULL, __ATOMIC_RELEASE);
		}
}

SDK_EXPORT int rocprofiler_at_intercept_table_registration(table_function *callback, int tables,
							   void *data);
SDK_EXPORT int rocprofiler_at_internal_thread_create(library_function *before,
						     library_function *after, int libraries,
						     void *data);

int rocprofiler_at_intercept_table_registration(table_function *callback, int tables, void *data)
{
	int tool = contexts_configuring();
	uint32_t at = table_wish_count;

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	if (at == WISHES_MAX)
		return SDK_OUT_OF_RESOURCES;
	table_wishes[at] = (struct table_wish){ tool, tables, callback, data, { 0 } };
	/* Release: who sees the count sees the entry. */
	__atomic_store_n(&table_wish_count, at + 1, __ATOMIC_RELEASE);
	return SDK_SUCCESS;
}

int rocprofiler_at_internal_thread_create(library_function *before, library_function *after,
					  int libraries, void *data)
{
	int tool = contexts_configuring();
	uint32_t at = thread_wish_count;

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	if (at == WISHES_MAX)
		return SDK_OUT_OF_RESOURCES;
	thread_wishes[at] = (struct thread_wish){ tool, libraries, before, after, data };
	__atomic_store_n(&thread_wish_count, at + 1, __ATOMIC_RELEASE);
	return SDK_SUCCESS;
}

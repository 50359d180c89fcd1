/*
 * Subscriptions change only while tools are configured and when they are forgotten. An entry
 * without owner is free; its callback is stored last, and cleared first.
 */
#include "target/amd/sinks/sdk/notify.h"

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/base/kinds.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#define WISHES_MAX 32u

struct table_wish {
	int32_t owner;  /* tool + 1; 0: free */
	int32_t tables; /* bits; 0: all */
	table_function *callback;
	void *data;
	uint32_t shown[AGENT_TABLES_MAX]; /* bits: parts of each registration */
};

struct thread_wish {
	int32_t owner;
	int32_t libraries;
	library_function *before, *after;
	void *data;
};

static struct table_wish table_wishes[WISHES_MAX];
static struct thread_wish thread_wishes[WISHES_MAX];
static uint32_t has_shown; /* bits: tools */

struct library_call {
	library_function *call;
	void *data;
};

static void run_library(void *argument)
{
	const struct library_call *call = argument;

	call->call(LIBRARY_SDK, call->data);
}

void notify_thread(bool is_made)
{
	for (uint32_t i = 0; i < WISHES_MAX; i++) {
		const struct thread_wish *wish = &thread_wishes[i];
		struct library_call call = { __atomic_load_n(is_made ? &wish->after : &wish->before,
							     __ATOMIC_ACQUIRE),
					     wish->data };

		if (call.call && (!wish->libraries || wish->libraries & LIBRARY_SDK))
			(void)guard_call(run_library, &call);
	}
}

static int bit_of(const struct agent_table *table, unsigned part)
{
	for (unsigned i = 0; i < API_TABLES; i++)
		if (text_equal(api_tables[i].registered, table->name) &&
		    api_tables[i].part == (api_tables[i].is_of_hsa ? 0 : part))
			return tool_tables[i].table_bit;
	return 0;
}

struct table_call {
	table_function *callback;
	const struct agent_table *table;
	unsigned part;
	int bit;
	void *data;
};

static void run_table(void *argument)
{
	const struct table_call *call = argument;
	void *tables[1] = { (void *)call->table->parts[call->part] };

	call->callback(call->bit, call->table->version, call->table->instance, tables, 1,
		       call->data);
}

/* Shows tables part by part, like AMD's library. */
static void show_part(struct table_wish *wish, unsigned index, unsigned part)
{
	struct table_call call = { .table = &agent_page.tables[index], .part = part };
	int bit = call.bit = bit_of(call.table, part);
	int32_t owner = __atomic_load_n(&wish->owner, __ATOMIC_RELAXED);
	struct call_thread *thread = call_thread_mine();
	uint64_t before;

	if (!bit || !owner || (wish->tables && !(wish->tables & bit)) || !thread ||
	    __atomic_fetch_or(&wish->shown[index], 1u << part, __ATOMIC_ACQ_REL) & 1u << part)
		return;
	__atomic_fetch_or(&has_shown, 1u << (owner - 1), __ATOMIC_SEQ_CST);
	before = call_thread_enter_tool(thread, (unsigned)owner - 1);
	call.callback = __atomic_load_n(&wish->callback, __ATOMIC_SEQ_CST);
	call.data = wish->data;
	if (call.callback)
		(void)guard_call(run_table, &call);
	call_thread_leave_tool(thread, before);
}

void notify_table(unsigned index)
{
	for (uint32_t i = 0; i < WISHES_MAX; i++)
		for (uint32_t part = 0;
		     table_wishes[i].callback && part < agent_page.tables[index].part_count; part++)
			show_part(&table_wishes[i], index, part);
}

bool notify_has_shown(int tool)
{
	return __atomic_load_n(&has_shown, __ATOMIC_SEQ_CST) & 1u << tool;
}

void notify_forget(int tool)
{
	for (uint32_t i = 0; i < WISHES_MAX; i++) {
		if (table_wishes[i].owner == tool + 1) {
			__atomic_store_n(&table_wishes[i].callback, NULL, __ATOMIC_SEQ_CST);
			__atomic_store_n(&table_wishes[i].owner, 0, __ATOMIC_RELEASE);
		}
		if (thread_wishes[i].owner == tool + 1) {
			__atomic_store_n(&thread_wishes[i].before, NULL, __ATOMIC_RELEASE);
			__atomic_store_n(&thread_wishes[i].after, NULL, __ATOMIC_RELEASE);
			__atomic_store_n(&thread_wishes[i].owner, 0, __ATOMIC_RELEASE);
		}
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

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	for (uint32_t i = 0; i < WISHES_MAX; i++) {
		struct table_wish *wish = &table_wishes[i];

		if (wish->owner)
			continue;
		*wish = (struct table_wish){ tool + 1, tables, NULL, data, { 0 } };
		/* Release: pairs with show_part(); publishes the rest of the entry. */
		__atomic_store_n(&wish->callback, callback, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

int rocprofiler_at_internal_thread_create(library_function *before, library_function *after,
					  int libraries, void *data)
{
	int tool = contexts_configuring();

	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	for (uint32_t i = 0; i < WISHES_MAX; i++) {
		struct thread_wish *wish = &thread_wishes[i];

		if (wish->owner)
			continue;
		*wish = (struct thread_wish){ tool + 1, libraries, NULL, NULL, data };
		__atomic_store_n(&wish->before, before, __ATOMIC_RELEASE);
		__atomic_store_n(&wish->after, after, __ATOMIC_RELEASE);
		return SDK_SUCCESS;
	}
	return SDK_OUT_OF_RESOURCES;
}

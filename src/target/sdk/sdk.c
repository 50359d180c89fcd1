/*
 * Ties contexts, buffers and tables to the life of tools.
 */
#include "target/sdk/sdk.h"

#include "target/hooks/clock.h"
#include "target/runtime/page.h"
#include "target/sdk/buffers.h"
#include "target/sdk/contexts.h"
#include "target/sdk/delivery.h"
#include "target/sdk/external.h"
#include "target/sdk/intercept.h"
#include "target/sdk/notify.h"
#include "target/sdk/threads.h"

#define REST_NS  2000000000ull
#define DRAIN_NS 5000000000ull

static uint32_t ready_tools; /* bits */
static bool is_prepared;

static struct boot_libc known_libc;

void sdk_learn(const struct boot_libc *libc)
{
	known_libc = *libc;
}

const struct boot_libc *sdk_libc(void)
{
	return known_libc.pthread_create ? &known_libc : NULL;
}

static void on_change(int forgotten)
{
	for (unsigned i = 0; forgotten >= 0 && i < CONTEXTS_MAX; i++)
		if (sdk_contexts[i].tool == forgotten)
			external_forget(i);
	intercept_update();
}

bool sdk_prepare(const struct boot_libc *libc)
{
	sdk_learn(libc);
	if (!sdk_threads_open(libc))
		return false;
	if (!is_prepared)
		clock_start();
	is_prepared = true;
	delivery_prepare(libc);
	intercept_prepare(libc);
	__atomic_store_n(&contexts_on_change, on_change, __ATOMIC_RELEASE);
	return true;
}

/* Tables are shown before they are changed: a tool that keeps originals keeps the runtime's own. */
void sdk_tool_ready(int tool)
{
	uint32_t tools = __atomic_or_fetch(&ready_tools, 1u << tool, __ATOMIC_SEQ_CST);

	delivery_restart(tool);
	notify_tables();
	intercept_install(tools);
}

unsigned sdk_tool_rest(int tool)
{
	unsigned inside;

	if (!is_prepared)
		return 0;
	intercept_update();
	inside = sdk_threads_await((unsigned)tool, REST_NS);
	buffers_drain(tool, DRAIN_NS);
	return inside;
}

void sdk_tool_leave(int tool)
{
	uint32_t tools = __atomic_and_fetch(&ready_tools, ~(1u << tool), __ATOMIC_SEQ_CST);

	if (!is_prepared)
		return;
	(void)delivery_stop(tool);
	intercept_install(tools);
}

void sdk_tool_forget(int tool)
{
	notify_forget(tool);
	if (is_prepared)
		(void)sdk_threads_await((unsigned)tool, REST_NS);
	(void)delivery_stop(tool);
	buffers_forget(tool);
	delivery_forget(tool);
}

void sdk_table_came(unsigned index)
{
	if (!__atomic_load_n(&ready_tools, __ATOMIC_SEQ_CST))
		return;
	notify_tables();
	intercept_add(&agent_page.tables[index]);
}

const char *sdk_tool_hindrance(int tool)
{
	if (notify_has_shown(tool))
		return "it was shown API tables, and may have functions in them";
	if (is_prepared && sdk_threads_await((unsigned)tool, 0))
		return "a thread of the program's is in a callback of it";
	return NULL;
}

const char *sdk_hindrance(void)
{
	if (intercept_left())
		return "the agent itself: another tool's functions in API tables lead to it";
	if (delivery_threads())
		return "the agent itself: a thread that delivers records has not ended";
	for (unsigned i = 0; is_prepared && i < AGENT_TOOLS_MAX; i++)
		if (sdk_threads_await(i, 0))
			return "the agent itself: a thread of the program's is in a tool's callback";
	return NULL;
}

unsigned sdk_own_threads(void)
{
	return delivery_threads();
}

void sdk_adopt(void)
{
	ready_tools = 0;
	delivery_adopt();
	buffers_adopt();
	sdk_threads_adopt();
}

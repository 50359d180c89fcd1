/*
 * Calls foreign code, on the runner's threads, except in exit().
 */
#include "target/lifecycle/calls.h"

#include "shared/arch/syscall.h"
#include "target/amd/engine.h"
#include "target/amd/registry.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/lifecycle/machine.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/page.h"

#include <errno.h>

#define INTERFACE_VERSION      10000 /* 10000 * major + 100 * minor + patch */
#define INTERFACE_VERSION_TEXT "1.0.0"
#define HANDLE_FIRST           255u

typedef struct limpet_tool *configure_function(uint32_t, const char *, uint32_t,
					       struct limpet_client *);
typedef struct limpet_tool_attach *configure_attach_function(uint32_t, const char *, uint32_t,
							     struct limpet_client *);
typedef struct limpet_tool_experimental *
configure_experimental_function(uint32_t, const char *, uint32_t, struct limpet_client *);

struct tool_order {
	struct tool *tool;
	enum tool_call call;
	int result;
};

/* Random per process, as tools expect; the same base for all tools of a process. */
static uint32_t first_handle(void)
{
	static uint32_t first;

	if (!first && raw3(SYS_getrandom, &first, sizeof(first), 0) != sizeof(first))
		first = (uint32_t)raw0(SYS_getpid) * 2654435761u;
	first = MAX(first, HANDLE_FIRST);
	return first = MIN(first, UINT32_MAX - HANDLE_FIRST);
}

/* A tool that has finalized itself gets no more calls. */
static void tool_retire(struct tool *tool)
{
	__atomic_store_n(&tool->attach_calls.tool_attach, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&tool->attach_calls.tool_detach, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&tool->reattach, NULL, __ATOMIC_RELEASE);
	call_finalize_here(tool);
}

/* Passed to initialize: finalizes a tool before the process ends. */
static void finalize_client(struct limpet_client client)
{
	for (unsigned i = 0; i < tools_count(); i++)
		if (tools[i].client.handle == client.handle && client.handle)
			tool_retire(&tools[i]);
}

static int tool_configure_experimental(struct tool *tool)
{
	configure_experimental_function *configure =
		(configure_experimental_function *)tool->configure_experimental;
	const struct limpet_tool_experimental *result =
		configure(INTERFACE_VERSION, INTERFACE_VERSION_TEXT, tool->index, &tool->client);

	if (!result)
		return 0;
	tool->calls = (struct limpet_tool){ sizeof(tool->calls), result->initialize,
					    result->finalize, result->tool_data };
	tool->reattach = result->tool_reattach;
	tool->attach_calls.tool_detach = result->tool_detach;
	tool->attach_calls.tool_data = result->tool_data;
	return 1;
}

/* 1: takes part; 0: it refuses. */
static int tool_configure(struct tool *tool)
{
	const struct limpet_tool_attach *attach = NULL;
	const struct limpet_tool *result;

	if (!tool->configure)
		return tool_configure_experimental(tool);
	result = ((configure_function *)tool->configure)(INTERFACE_VERSION, INTERFACE_VERSION_TEXT,
							 tool->index, &tool->client);
	if (!result)
		return 0;
	tool->calls = *result;
	if (tool->configure_attach)
		attach = ((configure_attach_function *)tool->configure_attach)(
			INTERFACE_VERSION, INTERFACE_VERSION_TEXT, tool->index, &tool->client);
	if (attach)
		tool->attach_calls = *attach;
	return 1;
}

static int tool_initialize(struct tool *tool)
{
	int r = tool->calls.initialize
			? tool->calls.initialize(finalize_client, tool->calls.tool_data)
			: 0;

	if (!r)
		sdk_tool_ready((int)tool->index);
	return r;
}

static int tool_attach(struct tool *tool)
{
	struct limpet_context contexts[CONTEXTS_MAX];
	size_t count = contexts_list((int)tool->index, contexts, CONTEXTS_MAX);

	sdk_tool_ready((int)tool->index);
	if (tool->attach_calls.tool_attach)
		return tool->attach_calls.tool_attach(NULL, contexts, count,
						      tool->attach_calls.tool_data);
	contexts_resume((int)tool->index);
	if (tool->reattach && tool->page->attaches)
		tool->reattach(tool->attach_calls.tool_data);
	return 0;
}

static int tool_detach(struct tool *tool)
{
	contexts_pause((int)tool->index);
	(void)sdk_tool_rest((int)tool->index);
	if (tool->attach_calls.tool_detach)
		tool->attach_calls.tool_detach(tool->attach_calls.tool_data);
	sdk_tool_leave((int)tool->index);
	return 0;
}

/* Called at most once, by the thread that swaps the pointer out. */
static int tool_finalize(struct tool *tool)
{
	void (*call)(void *) = __atomic_exchange_n(&tool->calls.finalize, NULL, __ATOMIC_ACQ_REL);

	contexts_pause((int)tool->index);
	(void)sdk_tool_rest((int)tool->index);
	if (call)
		call(tool->calls.tool_data);
	return 0;
}

static int (*const calls[])(struct tool *) = {
	[CALL_CONFIGURE] = tool_configure, [CALL_INITIALIZE] = tool_initialize,
	[CALL_ATTACH] = tool_attach,       [CALL_DETACH] = tool_detach,
	[CALL_FINALIZE] = tool_finalize,
};

static void call_guarded(void *argument)
{
	struct tool_order *order = argument;

	order->result = calls[order->call](order->tool);
}

/* Holds runtimes, which the target may close while the tool gets their tables, or calls them. */
static void order_work(void *argument)
{
	struct tool_order *order = argument;
	struct telling known = { 0 };

	telling_hold(&known, NULL);
	contexts_enter((int)order->tool->index);
	if (guard_call(call_guarded, order))
		order->result = CALL_THREW;
	contexts_enter(-1);
	telling_release(&known);
}

/* Runs when a timed-out call returns: ends what it began. */
static void order_end_late(void *argument)
{
	struct tool_order *order = argument;
	struct tool *tool = order->tool;

	if (order->call == CALL_ATTACH && !order->result)
		tool_detach(tool);
	if (order->call == CALL_INITIALIZE && !order->result)
		tool_finalize(tool);
	/* Release: pairs with the acquire in run_step(); the call's effects are visible. */
	__atomic_store_n(&tool->page->is_inside, 0, __ATOMIC_RELEASE);
}

int call_tool(const struct boot_libc *libc, struct tool *tool, enum tool_call call,
	      uint32_t timeout_ms, int *ret)
{
	struct tool_order order = { tool, call, 0 };
	bool may_make_contexts = call == CALL_CONFIGURE || call == CALL_INITIALIZE;
	int r;

	if (call == CALL_CONFIGURE) {
		struct limpet_client client = { sizeof(client), NULL,
						first_handle() + tool->index };

		__builtin_memcpy(&tool->client, &client, sizeof(client));
	}
	tool->page->is_inside = 1;
	guard_learn(tool->page->handle == (uint64_t)&agent_page ? NULL
								: (void *)tool->page->handle);
	guard_know_runners(runner_is_thread);
	contexts_open_for(may_make_contexts ? (int)tool->index : -1);
	r = runner_call(libc, order_work, order_end_late, &order, sizeof(order),
			tool->is_apart ? TABLE_OF_CALLER : TABLE_OF_PROGRAM, timeout_ms);
	contexts_open_for(-1);
	if (r != -ETIMEDOUT)
		tool->page->is_inside = 0;
	*ret = order.result;
	return r;
}

static void finalize_guarded(void *tool)
{
	tool_finalize(tool);
}

void call_finalize_here(struct tool *tool)
{
	(void)guard_call(finalize_guarded, tool);
}

/*
 * A fixed table. Any thread of a tool may start and stop its contexts, so the state of each is one
 * word, changed by compare-and-exchange.
 */
#include "target/amd/sinks/sdk/base/contexts.h"

#include "shared/arch/syscall.h"
#include "shared/wire/page.h"
#include "target/amd/sinks/sdk/base/status.h"

#include <string.h>

struct sdk_context sdk_contexts[CONTEXTS_MAX];
unsigned contexts_used;
void (*contexts_on_change)(int forgotten);
int (*contexts_on_start)(unsigned index);

static int32_t open_for = -1;
static int32_t callers[AGENT_TOOLS_MAX]; /* the thread inside each tool */
static uint32_t is_closed;

/* Sequentially consistent: pairs with call_thread_enter_tool(). */
static bool context_change(struct sdk_context *context, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&context->state, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

struct sdk_context *context_find(struct limpet_context id)
{
	if (!id.handle || id.handle > CONTEXTS_MAX ||
	    context_state(&sdk_contexts[id.handle - 1]) < CONTEXT_STOPPED)
		return NULL;
	return &sdk_contexts[id.handle - 1];
}

void contexts_open_for(int tool)
{
	__atomic_store_n(&open_for, tool, __ATOMIC_RELAXED);
}

void contexts_enter(int tool)
{
	int32_t self = (int32_t)raw0(SYS_gettid);

	for (int i = 0; i < AGENT_TOOLS_MAX; i++)
		if (i == tool || __atomic_load_n(&callers[i], __ATOMIC_RELAXED) == self)
			__atomic_store_n(&callers[i], i == tool ? self : 0, __ATOMIC_RELAXED);
}

/* Is the calling thread inside another tool, in a call that has exceeded its time limit? */
static bool is_late(int tool)
{
	int32_t self = (int32_t)raw0(SYS_gettid);

	for (int i = 0; i < AGENT_TOOLS_MAX; i++)
		if (i != tool && __atomic_load_n(&callers[i], __ATOMIC_RELAXED) == self)
			return true;
	return false;
}

void contexts_adopt(void)
{
	open_for = -1;
	memset(callers, 0, sizeof(callers));
}

void contexts_close(void)
{
	__atomic_store_n(&is_closed, 1, __ATOMIC_RELAXED);
}

static void notify_change(int forgotten)
{
	void (*tell)(int) = __atomic_load_n(&contexts_on_change, __ATOMIC_ACQUIRE);

	if (tell)
		tell(forgotten);
}

static int notify_start(const struct sdk_context *context)
{
	int (*tell)(unsigned) = __atomic_load_n(&contexts_on_start, __ATOMIC_ACQUIRE);

	return tell ? tell(context_number(context)) : SDK_SUCCESS;
}

int contexts_configuring(void)
{
	int tool = __atomic_load_n(&open_for, __ATOMIC_RELAXED);

	return tool < 0 || is_late(tool) ? -1 : tool;
}

int context_find_open(struct limpet_context id, struct sdk_context **ret)
{
	int tool = contexts_configuring();

	*ret = context_find(id);
	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	return *ret && (*ret)->tool == tool ? SDK_SUCCESS : SDK_CONTEXT_NOT_FOUND;
}

static void change_all(int tool, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    sdk_contexts[i].tool == tool)
			context_change(&sdk_contexts[i], from, to);
}

void contexts_pause(int tool)
{
	change_all(tool, CONTEXT_ACTIVE, CONTEXT_PAUSED);
	notify_change(-1);
}

void contexts_resume(int tool)
{
	const struct sdk_context *context;
	unsigned next = 0;

	change_all(tool, CONTEXT_PAUSED, CONTEXT_ACTIVE);
	notify_change(-1);
	while ((context = context_next(&next)))
		if (context->tool == tool)
			(void)notify_start(context); /* a later read fails */
}

void contexts_forget(int tool)
{
	for (uint32_t state = CONTEXT_STOPPED; state <= CONTEXT_PAUSED; state++)
		change_all(tool, state, CONTEXT_FREE);
	notify_change(tool);
}

size_t contexts_list(int tool, struct limpet_context *ret, size_t room)
{
	size_t count = 0;

	for (unsigned i = 0; i < CONTEXTS_MAX && count < room; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    sdk_contexts[i].tool == tool)
			ret[count++].handle = i + 1;
	return count;
}

static void clear_services(struct sdk_context *context)
{
	context->life++;
	context->request = NULL;
	context->request_kinds = 0;
	context->counts_kernels = false;
	memset(context->callbacks, 0, sizeof(context->callbacks));
	memset(context->buffers, 0, sizeof(context->buffers));
}

SDK_EXPORT int rocprofiler_create_context(struct limpet_context *id)
{
	int tool = contexts_configuring();
	unsigned used = 0;

	if (!id)
		return SDK_INVALID_ARGUMENT;
	if (id->handle)
		return SDK_CONTEXT_ID_NOT_ZERO;
	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		if (!context_change(&sdk_contexts[i], CONTEXT_FREE, CONTEXT_MAKING))
			continue;
		sdk_contexts[i].tool = tool;
		clear_services(&sdk_contexts[i]);
		while (used <= i &&
		       !__atomic_compare_exchange_n(&contexts_used, &used, i + 1, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		/* Release: pairs with context_state(); publishes the owner. */
		__atomic_store_n(&sdk_contexts[i].state, CONTEXT_STOPPED, __ATOMIC_RELEASE);
		id->handle = i + 1;
		return SDK_SUCCESS;
	}
	return SDK_CONTEXT_ERROR;
}

/* Stops a context again that cannot run its services. */
static int context_begin(struct sdk_context *context)
{
	int fault = notify_start(context);

	if (fault && context_change(context, CONTEXT_ACTIVE, CONTEXT_STOPPED))
		notify_change(-1);
	return fault;
}

SDK_EXPORT int rocprofiler_start_context(struct limpet_context id)
{
	struct sdk_context *context = context_find(id);

	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	if (__atomic_load_n(&is_closed, __ATOMIC_RELAXED))
		return SDK_CONFIGURATION_LOCKED;
	/* Starting an active context is no error. */
	if (!context_change(context, CONTEXT_STOPPED, CONTEXT_ACTIVE))
		context_change(context, CONTEXT_PAUSED, CONTEXT_ACTIVE);
	notify_change(-1);
	return context_begin(context);
}

SDK_EXPORT int rocprofiler_stop_context(struct limpet_context id)
{
	struct sdk_context *context = context_find(id);

	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	if (!context_change(context, CONTEXT_ACTIVE, CONTEXT_STOPPED))
		context_change(context, CONTEXT_PAUSED, CONTEXT_STOPPED);
	notify_change(-1);
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_context_is_active(struct limpet_context id, int *ret)
{
	const struct sdk_context *context = context_find(id);

	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = 0;
	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	*ret = context_state(context) == CONTEXT_ACTIVE;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_context_is_valid(struct limpet_context id, int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = context_find(id) != NULL;
	return *ret ? SDK_SUCCESS : SDK_CONTEXT_NOT_FOUND;
}

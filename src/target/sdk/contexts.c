/*
 * A fixed table.  Any thread of a tool may start and stop its contexts, so each is one word that is
 * changed by compare-and-exchange.
 */
#include "target/sdk/contexts.h"

#include "shared/arch/syscall.h"
#include "shared/wire/page.h"
#include "target/sdk/status.h"

#define EXPORT __attribute__((visibility("default")))

enum context_state {
	CONTEXT_FREE,
	CONTEXT_MAKING, /* taken, but it has no owner yet */
	CONTEXT_STOPPED,
	CONTEXT_ACTIVE,
	CONTEXT_PAUSED, /* was active when its tool was detached */
};

/* The handle of entry i is i + 1. */
static struct context {
	uint32_t state; /* enum context_state */
	int32_t tool;
} contexts[CONTEXTS_MAX];

static int32_t open_for = -1;
static int32_t callers[AGENT_TOOLS_MAX]; /* the thread that is inside each tool */
static uint32_t is_closed;

/* Relaxed: a context guards no other data of ours. */
static bool change(struct context *context, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&context->state, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static uint32_t state_of(const struct context *context)
{
	return __atomic_load_n(&context->state, __ATOMIC_ACQUIRE); /* pairs with its making */
}

static struct context *find(struct limpet_context id)
{
	if (!id.handle || id.handle > CONTEXTS_MAX ||
	    state_of(&contexts[id.handle - 1]) < CONTEXT_STOPPED)
		return NULL;
	return &contexts[id.handle - 1];
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

/* Is the calling thread inside another tool, one that was given up? */
static bool is_late(int tool)
{
	int32_t self = (int32_t)raw0(SYS_gettid);

	for (int i = 0; i < AGENT_TOOLS_MAX; i++)
		if (i != tool && __atomic_load_n(&callers[i], __ATOMIC_RELAXED) == self)
			return true;
	return false;
}

void contexts_close(void)
{
	__atomic_store_n(&is_closed, 1, __ATOMIC_RELAXED);
}

static void change_all(int tool, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (state_of(&contexts[i]) >= CONTEXT_STOPPED && contexts[i].tool == tool)
			change(&contexts[i], from, to);
}

void contexts_pause(int tool)
{
	change_all(tool, CONTEXT_ACTIVE, CONTEXT_PAUSED);
}

void contexts_resume(int tool)
{
	change_all(tool, CONTEXT_PAUSED, CONTEXT_ACTIVE);
}

void contexts_forget(int tool)
{
	for (uint32_t state = CONTEXT_STOPPED; state <= CONTEXT_PAUSED; state++)
		change_all(tool, state, CONTEXT_FREE);
}

size_t contexts_list(int tool, struct limpet_context *ret, size_t room)
{
	size_t count = 0;

	for (unsigned i = 0; i < CONTEXTS_MAX && count < room; i++)
		if (state_of(&contexts[i]) >= CONTEXT_STOPPED && contexts[i].tool == tool)
			ret[count++].handle = i + 1;
	return count;
}

EXPORT int rocprofiler_create_context(struct limpet_context *id)
{
	int tool = __atomic_load_n(&open_for, __ATOMIC_RELAXED);

	if (!id)
		return SDK_INVALID_ARGUMENT;
	if (id->handle)
		return SDK_CONTEXT_ID_NOT_ZERO;
	if (tool < 0 || is_late(tool))
		return SDK_CONFIGURATION_LOCKED;
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		if (!change(&contexts[i], CONTEXT_FREE, CONTEXT_MAKING))
			continue;
		contexts[i].tool = tool;
		/* Release: whoever finds it sees its owner. */
		__atomic_store_n(&contexts[i].state, CONTEXT_STOPPED, __ATOMIC_RELEASE);
		id->handle = i + 1;
		return SDK_SUCCESS;
	}
	return SDK_CONTEXT_ERROR;
}

EXPORT int rocprofiler_start_context(struct limpet_context id)
{
	struct context *context = find(id);

	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	if (__atomic_load_n(&is_closed, __ATOMIC_RELAXED))
		return SDK_FINALIZED;
	/* Starting an active one is no error. */
	if (!change(context, CONTEXT_STOPPED, CONTEXT_ACTIVE))
		change(context, CONTEXT_PAUSED, CONTEXT_ACTIVE);
	return SDK_SUCCESS;
}

EXPORT int rocprofiler_stop_context(struct limpet_context id)
{
	struct context *context = find(id);

	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	if (!change(context, CONTEXT_ACTIVE, CONTEXT_STOPPED))
		change(context, CONTEXT_PAUSED, CONTEXT_STOPPED);
	return SDK_SUCCESS;
}

EXPORT int rocprofiler_context_is_active(struct limpet_context id, int *ret)
{
	const struct context *context = find(id);

	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = 0;
	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	*ret = state_of(context) == CONTEXT_ACTIVE;
	return SDK_SUCCESS;
}

EXPORT int rocprofiler_context_is_valid(struct limpet_context id, int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = find(id) != NULL;
	return *ret ? SDK_SUCCESS : SDK_CONTEXT_NOT_FOUND;
}

EXPORT int rocprofiler_destroy_context(struct limpet_context id)
{
	struct context *context = find(id);

	if (!context)
		return SDK_CONTEXT_NOT_FOUND;
	__atomic_store_n(&context->state, CONTEXT_FREE, __ATOMIC_RELAXED);
	return SDK_SUCCESS;
}

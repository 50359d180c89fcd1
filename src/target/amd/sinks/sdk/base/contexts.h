/*
 * Contexts of tools. Created while a tool is configured or initialized, stopped at detach, kept for
 * the next attach.
 */
#pragma once

#include "limpet/tool.h"
#include "target/amd/sinks/sdk/base/abi.h"

#include <stdbool.h>

#define CONTEXTS_MAX   64 /* one bit of a word each */
#define OPERATIONS_MAX 512

enum context_state {
	CONTEXT_FREE,
	CONTEXT_MAKING, /* claimed, without an owner yet */
	CONTEXT_STOPPED,
	CONTEXT_ACTIVE,
	CONTEXT_PAUSED, /* was active when its tool was detached */
};

/* The selected operations of a kind; NULL: all. */
struct operation_set {
	uint64_t bits[OPERATIONS_MAX / 64];
};

static inline bool operation_is_in(const struct operation_set *set, unsigned operation)
{
	return !set || set->bits[operation / 64] >> operation % 64 & 1;
}

struct callback_service {
	callback_function *callback; /* NULL: not configured */
	void *data;
	const struct operation_set *operations;
};

struct buffer_service {
	struct sdk_handle buffer; /* 0: not configured */
	const struct operation_set *operations;
};

static inline bool callback_wants(const struct callback_service *service, unsigned operation)
{
	return service->callback && operation_is_in(service->operations, operation);
}

static inline bool buffer_wants(const struct buffer_service *service, unsigned operation)
{
	return service->buffer.handle && operation_is_in(service->operations, operation);
}

/* Services are configured before the first start of a context, and stay configured. The handle of
 * entry i is i + 1. */
struct sdk_context {
	uint32_t state; /* enum context_state */
	int32_t tool;
	uint32_t life; /* counts reuses of the entry */
	uint32_t request_kinds;
	bool counts_kernels; /* has a service of counters/dispatch */
	request_function *request;
	void *request_data;
	struct callback_service callbacks[CALLBACK_KINDS];
	struct buffer_service buffers[BUFFER_KINDS];
};
extern struct sdk_context sdk_contexts[CONTEXTS_MAX];
extern unsigned contexts_used; /* entries that were ever used: the first ones */

/* NULL: no such context. */
struct sdk_context *context_find(struct limpet_context id);
static inline unsigned context_index(struct limpet_context id)
{
	return (unsigned)id.handle - 1;
}

static inline uint32_t context_state(const struct sdk_context *context)
{
	return __atomic_load_n(&context->state, __ATOMIC_ACQUIRE); /* pairs with its creation */
}

/* The first active context from *index on, which is advanced behind it; NULL: there is none. */
static inline struct sdk_context *context_next(unsigned *index)
{
	while (*index < __atomic_load_n(&contexts_used, __ATOMIC_ACQUIRE)) {
		struct sdk_context *context = &sdk_contexts[(*index)++];

		if (context_state(context) == CONTEXT_ACTIVE)
			return context;
	}
	return NULL;
}
static inline unsigned context_number(const struct sdk_context *context)
{
	return (unsigned)(context - sdk_contexts);
}

/* Finds a context in which a service can be configured now: SDK_SUCCESS, or why not. */
int context_find_open(struct limpet_context id, struct sdk_context **ret);
/* The tool that the calling thread may configure now; -1: none. */
int contexts_configuring(void);

/* Called when contexts have started or stopped; `forgotten`: whose were freed (-1: none). */
extern void (*contexts_on_change)(int forgotten);

/* Called after that for a context that the calling thread has started: a status, why it cannot
 * run. */
extern int (*contexts_on_start)(unsigned index);

/* Allows creating contexts for this tool; -1: for none. */
void contexts_open_for(int tool);

/* Notes that the calling thread is inside that tool; -1: inside none. A tool call that returns
 * after its time limit must not create contexts for the tool that is configured by then. */
void contexts_enter(int tool);

/* Stores the handles of a tool's contexts; returns how many. */
size_t contexts_list(int tool, struct limpet_context *ret, size_t room);

/* At detach: stops all contexts of the tool; contexts_resume() restarts those that were active. */
void contexts_pause(int tool);
/* At the next attach of a tool without tool_attach: restarts its paused contexts. */
void contexts_resume(int tool);
void contexts_forget(int tool);

/* In exit(): no context may be started any more. */
void contexts_close(void);

/* In a forked child: no thread is inside a tool there. */
void contexts_adopt(void);

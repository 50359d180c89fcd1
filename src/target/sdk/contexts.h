/*
 * Contexts of tools.  Made while a tool is configured or initialized, stopped at detach, kept for
 * the next attach.
 */
#pragma once

#include "limpet/tool.h"
#include "target/sdk/abi.h"

#include <stdbool.h>

#define CONTEXTS_MAX   64 /* bits of a word */
#define OPERATIONS_MAX 512

enum context_state {
	CONTEXT_FREE,
	CONTEXT_MAKING, /* taken, but it has no owner yet */
	CONTEXT_STOPPED,
	CONTEXT_ACTIVE,
	CONTEXT_PAUSED, /* was active when its tool was detached */
};

/* Which operations of a kind are wanted; NULL: all. */
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

/* Services are configured before a context is started for the first time, and stay.  The handle of
 * entry i is i + 1. */
struct sdk_context {
	uint32_t state; /* enum context_state */
	int32_t tool;
	uint32_t life; /* of its entry: another context may get it later */
	uint32_t request_kinds;
	bool counts_kernels; /* counters/dispatch */
	request_function *request;
	void *request_data;
	struct callback_service callbacks[CALLBACK_KINDS];
	struct buffer_service buffers[BUFFER_KINDS];
};
extern struct sdk_context sdk_contexts[CONTEXTS_MAX];

/* NULL: there is none. */
struct sdk_context *context_find(struct limpet_context id);
static inline unsigned context_index(struct limpet_context id)
{
	return (unsigned)id.handle - 1;
}
uint32_t context_state(const struct sdk_context *context);

/* The same for a service that is to be configured: SDK_SUCCESS, or why not. */
int context_find_open(struct limpet_context id, struct sdk_context **ret);
/* May the calling thread configure now?  Which tool's turn it is; -1: none. */
int contexts_configuring(void);

/* Told whenever contexts have started or stopped, and which tool's were forgotten (-1: none). */
extern void (*contexts_on_change)(int forgotten);

/* Then, of one that was started on the calling thread: why it cannot do what it is for; a status.
 */
extern int (*contexts_on_start)(unsigned index);

/* From now on contexts are made for this tool; -1: none may be made. */
void contexts_open_for(int tool);

/* The calling thread is inside that tool now; -1: inside none any more.  A call that returns late
 * must not make contexts for the tool whose turn it is meanwhile. */
void contexts_enter(int tool);

/* The handles of a tool's contexts; returns how many. */
size_t contexts_list(int tool, struct limpet_context *ret, size_t room);

/* At detach: stops all, remembering which were active. */
void contexts_pause(int tool);
/* At the next attach of a tool that has no tool_attach: as they were. */
void contexts_resume(int tool);
void contexts_forget(int tool);

/* The program ends: nothing may be started any more. */
void contexts_close(void);

/* In a forked child: nobody is in a tool there. */
void contexts_adopt(void);

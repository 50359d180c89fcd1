/*
 * Runs on the thread that finds out about an event, mostly an application's inside its call.
 * Nothing waits, except in a tool's own callback.
 */
#include "target/amd/sinks/sdk/service.h"

#include "target/amd/events/moments.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/base/guard.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"

uint64_t tools_retirements;
struct busy_word tools_ids;

struct request_call {
	const struct sdk_context *context;
	uint64_t thread;
	int kind, operation;
	uint64_t internal, value;
	int answer;
};

static void run_request(void *argument)
{
	struct request_call *call = argument;

	call->answer = call->context->request(
		call->thread, (struct sdk_handle){ (uint64_t)(call->context - sdk_contexts) + 1 },
		call->kind, call->operation, call->internal, &call->value,
		call->context->request_data);
}

bool service_ask(struct call_thread *thread, unsigned index, int kind, int operation,
		 uint64_t internal, uint64_t *value)
{
	const struct sdk_context *context = &sdk_contexts[index];
	struct request_call call = {
		context, (uint64_t)thread->number, kind, operation, internal, 0, -1
	};
	uint64_t before = call_thread_enter_tool(thread, (unsigned)context->tool);
	bool is_answered = context_state(context) == CONTEXT_ACTIVE && context->request &&
			   !guard_call(run_request, &call) && !call.answer;

	call_thread_leave_tool(thread, before);
	if (is_answered)
		*value = call.value;
	return is_answered;
}

struct callback_call {
	const struct callback_service *service;
	const struct callback_record *record;
	uint64_t *user_data;
};

static void run_callback(void *argument)
{
	const struct callback_call *call = argument;

	call->service->callback(*call->record, call->user_data, call->service->data);
}

void service_call_back(struct call_thread *thread, const struct callback_record *record,
		       uint64_t *user_data, const uint32_t *life)
{
	const struct sdk_context *context = &sdk_contexts[record->context.handle - 1];
	struct callback_call call = { &context->callbacks[record->kind], record, user_data };
	uint64_t before = call_thread_enter_tool(thread, (unsigned)context->tool);
	uint32_t state = context_state(context);

	if ((state == CONTEXT_ACTIVE || (life && state == CONTEXT_STOPPED)) &&
	    (!life || context->life == *life) && call.service->callback)
		(void)guard_call(run_callback, &call);
	call_thread_leave_tool(thread, before);
}

void tools_retire(uint64_t internal)
{
	struct retirement_record record = { sizeof(record), BUFFER_RETIREMENT, moment_now(),
					    internal };
	uint64_t all = __atomic_load_n(&tools_retirements, __ATOMIC_RELAXED);

	for (; all; all &= all - 1)
		buffer_write((unsigned)__builtin_ctzll(all), BUFFER_RETIREMENT, &record,
			     sizeof(record));
}

void service_request(unsigned index, int kind, int operation, uint64_t internal, uint64_t *value)
{
	struct call_thread *thread = call_thread_mine();

	if (thread && !(thread->tools_inside & 1ull << sdk_contexts[index].tool))
		(void)service_ask(thread, index, kind, operation, internal, value);
}

void service_notify(unsigned index, const struct service_event *event, uint64_t *user_data)
{
	struct call_thread *thread = call_thread_mine();
	struct callback_record record;

	if (!thread || thread->tools_inside & 1ull << sdk_contexts[index].tool)
		return;
	record = (struct callback_record){
		{ index + 1u },
		event->thread ? event->thread : (uint64_t)thread->number,
		{ event->internal,
		  event->external ? *event->external : external_current(index, thread->number),
		  event->ancestor },
		event->kind,
		event->operation,
		event->phase,
		event->payload,
	};
	service_call_back(thread, &record, user_data, /* life */ NULL);
}

/*
 * Runs before and after a call that contexts want to see, on application threads inside their
 * calls. Nothing waits, except in a tool's own callback.
 */
#include "target/amd/sinks/sdk/service.h"

#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/sinks/sdk/buffers/writing.h"
#include "target/amd/sinks/sdk/devices/streams.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/sinks/sdk/guard.h"
#include "target/amd/sinks/sdk/kinds.h"
#include "target/amd/tables/watch.h"

#include <string.h>

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

/* True if the tool has provided an id. */
static bool ask_tool(struct call_thread *thread, struct request_call *call)
{
	uint64_t before = call_thread_enter_tool(thread, (unsigned)call->context->tool);
	bool is_answered = context_state(call->context) == CONTEXT_ACTIVE &&
			   call->context->request && !guard_call(run_request, call) &&
			   !call->answer;

	call_thread_leave_tool(thread, before);
	return is_answered;
}

static bool is_requested(const struct call_frame *frame, const struct sdk_context *context)
{
	return context->request &&
	       context->request_kinds & 1u << tool_tables[frame->slot->table].request_kind;
}

static __attribute__((noinline)) uint64_t external_asked(const struct call_frame *frame,
							 unsigned index)
{
	const struct call_slot *slot = frame->slot;
	struct request_call call = { &sdk_contexts[index],
				     (uint64_t)frame->thread->number,
				     tool_tables[slot->table].request_kind,
				     slot->operation,
				     frame->internal,
				     0,
				     -1 };

	return ask_tool(frame->thread, &call) ? call.value
					      : external_current(index, frame->thread->number);
}

static uint64_t external_of(const struct call_frame *frame, unsigned index)
{
	return is_requested(frame, &sdk_contexts[index])
		       ? external_asked(frame, index)
		       : external_current(index, frame->thread->number);
}

static const void *argument_address(const struct call_frame *frame,
				    const struct argument_place *place)
{
	switch (place->source) {
	case SOURCE_INTEGER:
		return &frame->integers[place->index];
	case SOURCE_VECTOR:
		return frame->vectors[place->index];
	case SOURCE_POINTED:
		return (const void *)frame->integers[place->index];
	case SOURCE_POINTED2:
		return (const void *)frame->caller[place->index];
	default:
		return &frame->caller[place->index];
	}
}

static void copy_bytes(unsigned char *to, const void *from, size_t size)
{
	if (size == 8)
		__builtin_memcpy(to, from, 8);
	else if (size == 4)
		__builtin_memcpy(to, from, 4);
	else
		memcpy(to, from, size);
}

static const struct call_layout *layout_of(const struct call_slot *slot)
{
	return &api_layouts[call_table(slot)->first + slot->operation];
}

static void fill_arguments(struct tools_frame *self)
{
	const struct call_layout *layout = layout_of(self->call.slot);
	const struct tool_table *table = &tool_tables[self->call.slot->table];

	self->payload.size = sizeof(uint64_t) + table->argument_bytes + table->result_bytes;
	memset(self->payload.bytes + table->argument_bytes, 0, table->result_bytes);
	if (!layout->count)
		self->payload.bytes[0] = 0;
	for (unsigned i = 0; i < layout->count; i++)
		copy_bytes(self->payload.bytes + layout->places[i].offset,
			   argument_address(&self->call, &layout->places[i]),
			   layout->places[i].size);
}

static void fill_result(struct tools_frame *self)
{
	const struct call_layout *layout = layout_of(self->call.slot);
	const uint64_t *results = self->call.results;
	unsigned char *result =
		self->payload.bytes + tool_tables[self->call.slot->table].argument_bytes;

	if (layout->is_result_pointed && results[0])
		memcpy(result, (const void *)results[0], layout->result_bytes);
	else if (layout->result_bytes && !layout->is_result_pointed)
		copy_bytes(result, results, layout->result_bytes);
}

/* True if the context still has the life in which the call began, and its tool is attached. */
static bool is_same_context(const struct seen_by *seen)
{
	uint32_t state = context_state(&sdk_contexts[seen->context]);

	return (state == CONTEXT_ACTIVE || state == CONTEXT_STOPPED) &&
	       sdk_contexts[seen->context].life == seen->life;
}

struct callback_call {
	const struct callback_service *service;
	struct callback_record record;
	uint64_t *user_data;
};

static void run_callback(void *argument)
{
	const struct callback_call *call = argument;

	call->service->callback(call->record, call->user_data, call->service->data);
}

static void call_back(struct tools_frame *self, struct seen_by *seen, enum callback_phase phase)
{
	const struct sdk_context *context = &sdk_contexts[seen->context];
	const struct call_frame *frame = &self->call;
	int kind = tool_tables[frame->slot->table].callback_kind;
	struct callback_call call = {
		&context->callbacks[kind],
		{
			{ seen->context + 1u },
			(uint64_t)frame->thread->number,
			{ frame->internal, seen->external, frame->ancestor },
			kind,
			frame->slot->operation,
			phase,
			&self->payload,
		},
		&seen->user_data,
	};
	uint64_t before = call_thread_enter_tool(frame->thread, (unsigned)context->tool);

	if (is_same_context(seen) && call.service->callback)
		(void)guard_call(run_callback, &call);
	call_thread_leave_tool(frame->thread, before);
}

static void call_all_back(struct tools_frame *self, enum callback_phase phase)
{
	for (uint32_t i = 0; i < self->seen_count; i++)
		if (self->seen[i].has_callback)
			call_back(self, &self->seen[i], phase);
}

/* True unless contexts want only plain records, which carry no arguments. */
static bool needs_arguments(const struct call_frame *frame)
{
	return frame->watched & (WATCHING_STREAM | WATCHING_TOOLS) ||
	       frame->slot->callbacks | frame->slot->extended;
}

/* Separate functions keep these steps from using registers in calls that are only recorded. */
static __attribute__((noinline)) void begin_with_arguments(struct tools_frame *self)
{
	fill_arguments(self);
	if (self->call.watched & WATCHING_STREAM)
		stream_before(&self->call);
	call_all_back(self, PHASE_ENTER);
	/* External ids that a callback has pushed apply to the call. */
	for (uint32_t i = 0; i < self->seen_count; i++)
		if (!is_requested(&self->call, &sdk_contexts[self->seen[i].context]))
			self->seen[i].external =
				external_current(self->seen[i].context, self->call.thread->number);
}

static __attribute__((noinline)) void end_with_arguments(struct tools_frame *self)
{
	fill_result(self);
	call_all_back(self, PHASE_EXIT);
}

void tools_before(struct call_frame *frame)
{
	struct tools_frame *self = tools_frame_of(frame);

	self->kernel = 0;
	for (uint32_t i = 0; i < self->seen_count; i++)
		self->seen[i].external = external_of(frame, self->seen[i].context);
	self->has_arguments = needs_arguments(frame);
	if (self->has_arguments)
		begin_with_arguments(self);
}

/* Fills in all fields but the size, in the buffer. The place stays in registers: passing it through
 * memory took a seventh of a record's cost. */
static inline __attribute__((always_inline)) struct record_place
record_fill(const struct call_frame *frame, const struct seen_by *seen, int kind,
	    const struct moments *times, size_t size)
{
	struct record_place place = context_reserve(seen->context, kind, size);
	struct api_record *record = place.record;

	if (!record)
		return place;
	record->kind = kind;
	record->operation = frame->slot->operation;
	record->correlation =
		(struct correlation){ frame->internal, seen->external, frame->ancestor };
	record->start_ns = times->begin_ns;
	record->end_ns = times->end_ns;
	record->thread = (uint64_t)frame->thread->number;
	return place;
}

static __attribute__((noinline)) void write_extended(const struct tools_frame *self,
						     const struct seen_by *seen,
						     const struct moments *times)
{
	const struct tool_table *table = &tool_tables[self->call.slot->table];
	size_t more = table->argument_bytes + table->result_bytes,
	       size = sizeof(struct api_record) + more;
	struct record_place place =
		record_fill(&self->call, seen, table->extended_kind, times, size);

	if (!place.record)
		return;
	memcpy((struct api_record *)place.record + 1, self->payload.bytes, more);
	buffer_commit(place, size);
}

static void record_call(const struct tools_frame *self, const struct seen_by *seen,
			const struct moments *times)
{
	const struct call_slot *slot = self->call.slot;
	uint64_t bit = 1ull << seen->context;

	if (slot->buffers & bit) {
		struct record_place place =
			record_fill(&self->call, seen, tool_tables[slot->table].buffer_kind, times,
				    sizeof(struct api_record));

		if (place.record)
			buffer_commit(place, sizeof(struct api_record));
	}
	if (slot->extended & bit && self->has_arguments)
		write_extended(self, seen, times);
}

void tools_after(struct call_frame *frame, uint64_t end)
{
	const struct tools_frame *self = tools_frame_of(frame);
	uint64_t wanted = frame->slot->buffers | frame->slot->extended;
	struct moments times;

	if (self->has_arguments)
		end_with_arguments(tools_frame_of(frame));
	if (!wanted || !self->begin)
		return;
	times = moments_of(self->begin, end);
	for (uint32_t i = 0; i < self->seen_count; i++)
		if (wanted >> self->seen[i].context & 1)
			record_call(self, &self->seen[i], &times);
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
	const struct sdk_context *context = &sdk_contexts[index];
	struct call_thread *thread = call_thread_mine();
	struct request_call call = {
		context, thread ? (uint64_t)thread->number : 0, kind, operation, internal, 0, -1
	};

	if (thread && !(thread->tools_inside & 1ull << context->tool) && ask_tool(thread, &call))
		*value = call.value;
}

void service_tell(unsigned index, const struct service_event *event, uint64_t *user_data)
{
	const struct sdk_context *context = &sdk_contexts[index];
	struct call_thread *thread = call_thread_mine();
	struct callback_call call = { .service = &context->callbacks[event->kind],
				      .user_data = user_data };
	uint64_t before;

	if (!thread || thread->tools_inside & 1ull << context->tool)
		return;
	call.record = (struct callback_record){
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
	before = call_thread_enter_tool(thread, (unsigned)context->tool);
	if (context_state(context) == CONTEXT_ACTIVE && call.service->callback)
		(void)guard_call(run_callback, &call);
	call_thread_leave_tool(thread, before);
}

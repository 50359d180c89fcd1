/*
 * Runs before and after a call that contexts want to see, on application threads inside their
 * calls. Nothing waits, except in a tool's own callback.
 */
#include "target/amd/sinks/sdk/service.h"

#include "target/amd/sinks/sdk/buffers/writing.h"
#include "target/amd/sinks/sdk/devices/streams.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/sinks/sdk/guard.h"
#include "target/amd/sinks/sdk/moments.h"
#include "target/amd/tables/watch.h"
#include "target/runtime/page.h"

#include <string.h>

struct sdk_slot service_slots[SERVICE_SLOTS];
uint64_t service_retirements;
static uint64_t last_id __attribute__((aligned(64))); /* on a cache line that every call writes */

uint64_t service_next_id(void)
{
	return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
}

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
static bool ask_tool(struct sdk_thread *thread, struct request_call *call)
{
	uint64_t before = sdk_thread_enter_tool(thread, (unsigned)call->context->tool);
	bool is_answered = context_state(call->context) == CONTEXT_ACTIVE &&
			   call->context->request && !guard_call(run_request, call) &&
			   !call->answer;

	sdk_thread_leave_tool(thread, before);
	return is_answered;
}

static bool is_requested(const struct sdk_frame *frame, const struct sdk_context *context)
{
	return context->request && context->request_kinds & 1u << frame->slot->table->request_kind;
}

static __attribute__((noinline)) uint64_t external_asked(const struct sdk_frame *frame,
							 unsigned index)
{
	const struct sdk_slot *slot = frame->slot;
	struct request_call call = { &sdk_contexts[index],
				     (uint64_t)frame->thread->number,
				     slot->table->request_kind,
				     slot->operation,
				     frame->internal,
				     0,
				     -1 };

	return ask_tool(frame->thread, &call) ? call.value
					      : external_current(index, frame->thread->number);
}

static uint64_t external_of(const struct sdk_frame *frame, unsigned index)
{
	return is_requested(frame, &sdk_contexts[index])
		       ? external_asked(frame, index)
		       : external_current(index, frame->thread->number);
}

/* Skips tools whose callbacks this thread is in: calls made by a tool's callback would recurse.
 * Relaxed: the context is read at an address computed from the bits, so after them; an acquire load
 * would wait here until the last record is stored. */
static uint32_t collect_contexts(struct sdk_frame *frame, const struct sdk_thread *thread)
{
	const struct sdk_slot *slot = frame->slot;
	uint64_t callbacks = __atomic_load_n(&slot->callbacks, __ATOMIC_RELAXED);
	uint64_t all = callbacks | __atomic_load_n(&slot->buffers, __ATOMIC_RELAXED) |
		       __atomic_load_n(&slot->extended, __ATOMIC_RELAXED);
	uint32_t count = 0;

	for (; all && count < SEEN_MAX; all &= all - 1) {
		unsigned index = (unsigned)__builtin_ctzll(all);

		if (thread->tools_inside & 1ull << sdk_contexts[index].tool)
			continue;
		frame->seen[count++] = (struct seen_by){ sdk_contexts[index].life, (uint8_t)index,
							 callbacks >> index & 1, 0, 0 };
	}
	return count;
}

static const void *argument_address(const struct sdk_frame *frame,
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

static struct call_layout *layout_of(const struct sdk_slot *slot)
{
	return &service_layouts[slot - service_slots];
}

static void fill_arguments(struct sdk_frame *frame)
{
	const struct call_layout *layout = layout_of(frame->slot);
	const struct api_table *table = frame->slot->table;

	frame->payload.size = sizeof(uint64_t) + table->argument_bytes + table->result_bytes;
	memset(frame->payload.bytes + table->argument_bytes, 0, table->result_bytes);
	if (!layout->count)
		frame->payload.bytes[0] = 0;
	for (unsigned i = 0; i < layout->count; i++)
		copy_bytes(frame->payload.bytes + layout->places[i].offset,
			   argument_address(frame, &layout->places[i]), layout->places[i].size);
}

static void fill_result(struct sdk_frame *frame)
{
	const struct call_layout *layout = layout_of(frame->slot);
	unsigned char *result = frame->payload.bytes + frame->slot->table->argument_bytes;

	if (layout->is_result_pointed && frame->results[0])
		memcpy(result, (const void *)frame->results[0], layout->result_bytes);
	else if (layout->result_bytes && !layout->is_result_pointed)
		copy_bytes(result, frame->results, layout->result_bytes);
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

static void call_back(struct sdk_frame *frame, struct seen_by *seen, enum callback_phase phase)
{
	const struct sdk_context *context = &sdk_contexts[seen->context];
	const struct sdk_slot *slot = frame->slot;
	struct callback_call call = {
		&context->callbacks[slot->table->callback_kind],
		{
			{ seen->context + 1u },
			(uint64_t)frame->thread->number,
			{ frame->internal, seen->external, frame->ancestor },
			slot->table->callback_kind,
			slot->operation,
			phase,
			&frame->payload,
		},
		&seen->user_data,
	};
	uint64_t before = sdk_thread_enter_tool(frame->thread, (unsigned)context->tool);

	if (is_same_context(seen) && call.service->callback)
		(void)guard_call(run_callback, &call);
	sdk_thread_leave_tool(frame->thread, before);
}

static void call_all_back(struct sdk_frame *frame, enum callback_phase phase)
{
	for (uint32_t i = 0; i < frame->seen_count; i++)
		if (frame->seen[i].has_callback)
			call_back(frame, &frame->seen[i], phase);
}

/* External ids that a callback has pushed apply to the call. */
static void call_before(struct sdk_frame *frame)
{
	call_all_back(frame, PHASE_ENTER);
	for (uint32_t i = 0; i < frame->seen_count; i++)
		if (!is_requested(frame, &sdk_contexts[frame->seen[i].context]))
			frame->seen[i].external =
				external_current(frame->seen[i].context, frame->thread->number);
}

/* True unless contexts want only plain records, which carry no arguments. */
static bool needs_arguments(const struct sdk_frame *frame)
{
	const struct sdk_slot *slot = frame->slot;

	return frame->watched || slot->callbacks | slot->extended;
}

/* Separate functions keep these steps from using registers in calls that are only recorded. */
static __attribute__((noinline)) void begin_with_arguments(struct sdk_frame *frame)
{
	fill_arguments(frame);
	if (frame->watched & WATCHING_STREAM)
		stream_before(frame);
	call_before(frame);
}

static __attribute__((noinline)) void end_with_arguments(struct sdk_frame *frame)
{
	fill_result(frame);
	call_all_back(frame, PHASE_EXIT);
}

static void begin_call(struct sdk_frame *frame)
{
	frame->internal = service_next_id();
	frame->ancestor = sdk_thread_begin(frame->thread, (uint64_t)frame, frame->internal);
	for (uint32_t i = 0; i < frame->seen_count; i++)
		frame->seen[i].external = external_of(frame, frame->seen[i].context);
	frame->has_arguments = needs_arguments(frame);
	if (frame->has_arguments)
		begin_with_arguments(frame);
}

bool service_enter(struct sdk_frame *frame)
{
	struct sdk_thread *thread = sdk_thread_mine();
	uint32_t seen_count;
	uint8_t watched;

	if (!thread) {
		__atomic_add_fetch(&agent_page.dropped, 1, __ATOMIC_RELAXED);
		watch_missed(frame);
		return false;
	}
	if (thread->tools_inside)
		sdk_thread_prune(thread, (uint64_t)frame);
	seen_count = collect_contexts(frame, thread);
	watched = __atomic_load_n(&frame->slot->watching, __ATOMIC_RELAXED);
	if (!seen_count && !watched)
		return false;
	frame->thread = thread;
	frame->seen_count = seen_count;
	frame->watched = watched;
	frame->asked = 0;
	frame->kernel = 0;
	begin_call(frame);
	if (watched)
		watch_before(frame);
	frame->begin = moment_ticks();
	return true;
}

/* Fills in all fields but the size, in the buffer. The place stays in registers: passing it through
 * memory took a seventh of a record's cost. */
static inline __attribute__((always_inline)) struct record_place
record_fill(const struct sdk_frame *frame, const struct seen_by *seen, int kind,
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

static __attribute__((noinline)) void write_extended(const struct sdk_frame *frame,
						     const struct seen_by *seen,
						     const struct moments *times)
{
	const struct api_table *table = frame->slot->table;
	size_t more = table->argument_bytes + table->result_bytes,
	       size = sizeof(struct api_record) + more;
	struct record_place place = record_fill(frame, seen, table->extended_kind, times, size);

	if (!place.record)
		return;
	memcpy((struct api_record *)place.record + 1, frame->payload.bytes, more);
	buffer_commit(place, size);
}

static void record_call(const struct sdk_frame *frame, const struct seen_by *seen,
			const struct moments *times)
{
	uint64_t bit = 1ull << seen->context;

	if (frame->slot->buffers & bit) {
		struct record_place place =
			record_fill(frame, seen, frame->slot->table->buffer_kind, times,
				    sizeof(struct api_record));

		if (place.record)
			buffer_commit(place, sizeof(struct api_record));
	}
	if (frame->slot->extended & bit && frame->has_arguments)
		write_extended(frame, seen, times);
}

static void record_all(const struct sdk_frame *frame, uint64_t end)
{
	uint64_t wanted = frame->slot->buffers | frame->slot->extended;
	struct moments times;

	if (!wanted)
		return;
	times = moments_of(frame->begin, end);
	for (uint32_t i = 0; i < frame->seen_count; i++)
		if (wanted >> frame->seen[i].context & 1)
			record_call(frame, &frame->seen[i], &times);
}

void service_retire(uint64_t internal)
{
	struct retirement_record record = { sizeof(record), BUFFER_RETIREMENT, moment_now(),
					    internal };
	uint64_t all = __atomic_load_n(&service_retirements, __ATOMIC_RELAXED);

	for (; all; all &= all - 1)
		buffer_write((unsigned)__builtin_ctzll(all), BUFFER_RETIREMENT, &record,
			     sizeof(record));
}

void service_exit(struct sdk_frame *frame)
{
	uint64_t end = moment_ticks();

	if (frame->watched)
		watch_returned(frame, end);
	if (frame->has_arguments)
		end_with_arguments(frame);
	record_all(frame, end);
	if (frame->watched)
		watch_after(frame, end);
	/* Work of a device for this call still uses the id: the id is retired later. */
	if (!(frame->asked && work_end_call(frame->internal, (int32_t)frame->results[0] != 0)) &&
	    service_retirements)
		service_retire(frame->internal);
	sdk_thread_end(frame->thread, (uint64_t)frame);
}

void service_request(unsigned index, int kind, int operation, uint64_t internal, uint64_t *value)
{
	const struct sdk_context *context = &sdk_contexts[index];
	struct sdk_thread *thread = sdk_thread_mine();
	struct request_call call = {
		context, thread ? (uint64_t)thread->number : 0, kind, operation, internal, 0, -1
	};

	if (thread && !(thread->tools_inside & 1ull << context->tool) && ask_tool(thread, &call))
		*value = call.value;
}

void service_tell(unsigned index, const struct service_event *event, uint64_t *user_data)
{
	const struct sdk_context *context = &sdk_contexts[index];
	struct sdk_thread *thread = sdk_thread_mine();
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
	before = sdk_thread_enter_tool(thread, (unsigned)context->tool);
	if (context_state(context) == CONTEXT_ACTIVE && call.service->callback)
		(void)guard_call(run_callback, &call);
	sdk_thread_leave_tool(thread, before);
}

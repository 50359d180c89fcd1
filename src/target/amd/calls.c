/*
 * The way of a call through limpet: limpet's handlers, tools and the ring around the original. Runs
 * on application threads inside their calls; nothing waits, except in a tool's own callback.
 */
#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/base/kinds.h"
#include "target/amd/sinks/sdk/buffers/writing.h"
#include "target/amd/sinks/sdk/calls/streams.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/tables/watch.h"
#include "target/hooks/stack.h"
#include "target/runtime/page.h"

#include <string.h>

#define STACK_STEP 16u

/* The caller's stack may end before the arguments that an unknown function may have. */
static __attribute__((noinline)) uint64_t stack_readable_bytes(const struct call_frame *frame)
{
	unsigned words = frame->slot->stack_bytes / sizeof(uint64_t);
	uint64_t page = (uint64_t)frame->caller % WINDOW_PAGE;

	if (page + frame->slot->stack_bytes > WINDOW_PAGE)
		words = stack_readable(frame->caller, words);
	return ALIGN_DOWN(words * sizeof(uint64_t), STACK_STEP);
}

/* Skips tools whose callbacks this thread is in: calls made by a tool's callback would recurse.
 * Relaxed: the context is read at an address computed from the bits, so after them; an acquire load
 * would wait here until the last record is stored. */
static bool contexts_collect(struct call_frame *frame, const struct call_thread *thread)
{
	struct tools_frame *self = tools_frame_of(frame);
	const struct call_slot *slot = frame->slot;
	uint64_t callbacks = __atomic_load_n(&slot->callbacks, __ATOMIC_RELAXED);
	uint64_t all = callbacks | __atomic_load_n(&slot->buffers, __ATOMIC_RELAXED) |
		       __atomic_load_n(&slot->extended, __ATOMIC_RELAXED);
	uint32_t count = 0;

	for (; all && count < SEEN_MAX; all &= all - 1) {
		unsigned index = (unsigned)__builtin_ctzll(all);

		if (thread->tools_inside & 1ull << sdk_contexts[index].tool)
			continue;
		self->seen[count++] = (struct seen_by){ sdk_contexts[index].life, (uint8_t)index,
							callbacks >> index & 1, 0, 0 };
	}
	self->seen_count = count;
	return count;
}

static inline bool wants_records(const struct call_slot *slot)
{
	return (__atomic_load_n(&slot->buffers, __ATOMIC_RELAXED) |
		__atomic_load_n(&slot->extended, __ATOMIC_RELAXED)) != 0;
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
	uint64_t value = 0;

	return service_ask(frame->thread, index, tool_tables[slot->table].request_kind,
			   slot->operation, frame->internal, &value)
		       ? value
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

static void call_back(struct tools_frame *self, struct seen_by *seen, enum callback_phase phase)
{
	const struct call_frame *frame = &self->call;
	struct callback_record record = {
		{ seen->context + 1u },
		(uint64_t)frame->thread->number,
		{ frame->internal, seen->external, frame->ancestor },
		tool_tables[frame->slot->table].callback_kind,
		frame->slot->operation,
		phase,
		&self->payload,
	};

	service_call_back(frame->thread, &record, &seen->user_data, &seen->life);
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

/* Asks for external ids, and makes the callbacks before the call. */
static void tools_before(struct call_frame *frame)
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

/* Makes the callbacks after the call, and writes its records. */
static void tools_after(struct call_frame *frame, uint64_t end)
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

/* Without a thread's entry nothing is watched: the table of threads is full. */
static bool call_miss(struct call_frame *frame)
{
	const struct slot_watch *watch = watch_of(frame->slot);

	__atomic_add_fetch(&agent_page.dropped, 1, __ATOMIC_RELAXED);
	if (frame->watched & WATCHING_CALL && watch->missed)
		watch->missed(frame);
	frame->watched = 0;
	return frame->is_recorded;
}

/* Without tools no thread makes a system call for the time: filters may forbid it. */
static uint64_t call_ticks(const struct call_frame *frame)
{
	return frame->internal ? moment_ticks() : clock_ticks();
}

/* True if a tool sees the call, or limpet watches it. `needs_time`: the call's begin is also its
 * number, for the ring and for handlers. */
static bool call_begin(struct call_frame *frame, bool needs_time)
{
	struct tools_frame *self = tools_frame_of(frame);
	struct call_thread *thread = call_thread_mine();
	bool is_seen;

	if (!thread)
		return call_miss(frame);
	if (thread->tools_inside)
		call_thread_prune(thread, (uint64_t)frame);
	is_seen = contexts_collect(frame, thread);
	if (!is_seen && !frame->watched)
		return frame->is_recorded;
	frame->thread = thread;
	if (is_seen || frame->watched & WATCHING_TOOLS)
		frame->internal = tools_next_id();
	if (needs_time)
		frame->begin = call_ticks(frame);
	frame->ancestor = call_thread_begin(
		thread, &(struct thread_call){ .frame = (uint64_t)frame,
					       .begin = frame->begin,
					       .internal = frame->internal & CALL_INTERNAL_MASK,
					       .table = frame->slot->table });
	if (frame->internal)
		tools_before(frame);
	if (frame->watched)
		watch_before(frame);
	self->begin = is_seen && wants_records(frame->slot) ? moment_ticks() : 0;
	return true;
}

bool call_enter(struct call_frame *frame)
{
	const struct call_slot *slot = frame->slot;
	bool is_recorded = __atomic_load_n(&slot->is_recorded, __ATOMIC_RELAXED);
	uint8_t watched = __atomic_load_n(&slot->watching, __ATOMIC_RELAXED);
	bool is_wanted = true;

	frame->thread = NULL;
	frame->begin = frame->internal = frame->asked = 0;
	frame->stack_bytes = slot->is_unknown ? stack_readable_bytes(frame) : slot->stack_bytes;
	frame->is_recorded = is_recorded;
	frame->watched = watched;
	if (watched || __atomic_load_n(&slot->callbacks, __ATOMIC_RELAXED) || wants_records(slot))
		is_wanted = call_begin(frame, watched || is_recorded);
	if (is_recorded && !frame->begin)
		frame->begin = clock_ticks();
	return is_wanted;
}

/* Ends the call's id, unless work of devices still uses it: then it is retired later. */
static void id_end(struct call_frame *frame)
{
	if (frame->watched & WATCHING_STREAM)
		stream_after(frame);
	if (!(frame->asked && work_end_call(frame->internal, call_has_failed(frame))) &&
	    tools_retirements)
		tools_retire(frame->internal);
}

/* The function's number belongs to a session, in which the call may not have begun. Acquire: pairs
 * with slot_update(); the number is stored. */
static bool is_still_recorded(const struct call_frame *frame)
{
	return frame->is_recorded && __atomic_load_n(&frame->slot->is_recorded, __ATOMIC_ACQUIRE);
}

void call_exit(struct call_frame *frame)
{
	const struct amd_sink *ring = is_still_recorded(frame) ? events_ring() : NULL;
	uint64_t end = 0;

	if (frame->begin || wants_records(frame->slot))
		end = call_ticks(frame);
	if (frame->watched)
		watch_after(frame, end, /* is_first */ true);
	if (frame->internal)
		tools_after(frame, end);
	/* Before the records of work that the call has caused. */
	if (ring)
		ring->call(frame, end);
	if (!frame->thread)
		return;
	if (frame->watched)
		watch_after(frame, end, /* is_first */ false);
	if (frame->internal)
		id_end(frame);
	call_thread_end(frame->thread, (uint64_t)frame);
}

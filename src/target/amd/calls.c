/*
 * The way of a call through limpet: limpet's handlers, tools and the ring around the original. Runs
 * on application threads inside their calls; nothing waits, except in a tool's own callback.
 */
#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/streams.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/tables/watch.h"
#include "target/hooks/stack.h"
#include "target/runtime/page.h"

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

/* True if a tool sees the call, or limpet watches it. */
static bool call_begin(struct call_frame *frame)
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
	if (frame->watched || frame->is_recorded)
		frame->begin = call_ticks(frame);
	frame->ancestor = call_thread_begin(
		thread, &(struct thread_call){ (uint64_t)frame, frame->internal, frame->begin,
					       frame->slot->table });
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
	bool is_wanted = true;

	frame->thread = NULL;
	frame->begin = frame->internal = frame->asked = 0;
	frame->stack_bytes = slot->is_unknown ? stack_readable_bytes(frame) : slot->stack_bytes;
	frame->is_recorded = __atomic_load_n(&slot->is_recorded, __ATOMIC_RELAXED);
	frame->watched = __atomic_load_n(&slot->watching, __ATOMIC_RELAXED);
	if (frame->watched || __atomic_load_n(&slot->callbacks, __ATOMIC_RELAXED) ||
	    wants_records(slot))
		is_wanted = call_begin(frame);
	if (frame->is_recorded && !frame->begin)
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

void call_exit(struct call_frame *frame)
{
	const struct amd_sink *ring = frame->is_recorded ? events_ring() : NULL;
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

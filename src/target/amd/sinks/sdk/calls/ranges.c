/*
 * A range begins when the roctx call has returned, since its result is the range's id. Runs on
 * application threads, inside their calls; nothing waits.
 */
#include "target/amd/sinks/sdk/calls/ranges.h"

#include "shared/arch/syscall.h"
#include "target/amd/events/moments.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/tables/keyed.h"
#include "target/runtime/page.h"

#include <sys/mman.h>

#define RANGES_MAX   65536u
#define WINDOW       64u
#define RANGE_SEEN   4u
#define OF_A_THREAD  (1ull << 63)
#define THREAD_SHIFT 24

/* Operations of roctx, and of ranges. */
enum { CALL_MARK, CALL_PUSH, CALL_POP, CALL_START, CALL_STOP, CALL_THREAD_ID };
enum { RANGE_MARK, RANGE_OF_THREAD, RANGE_OF_PROCESS, RANGE_THREAD_ID };

struct range {
	uint64_t key; /* 0: free */
	uint64_t internal, ancestor, begin, thread;
	struct {
		uint64_t size;
		unsigned char arguments[16];
		uint64_t result;
	} data;
	uint32_t seen_count;
	struct seen_by seen[RANGE_SEEN];
};

static struct range *ranges; /* RANGES_MAX entries; mapped for the first range, and kept */

static bool ranges_open(void)
{
	struct range *none = NULL;
	long r;

	if (__atomic_load_n(&ranges, __ATOMIC_ACQUIRE))
		return true;
	r = raw6(SYS_mmap, 0, RANGES_MAX * sizeof(*ranges), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	if (!__atomic_compare_exchange_n(&ranges, &none, (struct range *)r, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		raw2(SYS_munmap, r, RANGES_MAX * sizeof(*ranges));
	return true;
}

void ranges_forget(void)
{
	if (__atomic_load_n(&ranges, __ATOMIC_ACQUIRE))
		raw3(SYS_madvise, ranges, RANGES_MAX * sizeof(*ranges), MADV_DONTNEED);
}

static struct keyed_table ranges_table(void)
{
	return (struct keyed_table){ __atomic_load_n(&ranges, __ATOMIC_ACQUIRE), sizeof(*ranges),
				     RANGES_MAX, WINDOW };
}

/* Fills the entry under a temporary key, so range_remove() finds only complete entries. */
static void range_put(uint64_t key, const struct range *range)
{
	bool is_open = ranges_open();
	struct keyed_table table = ranges_table();
	struct range *place = is_open ? keyed_claim(&table, key, UINT64_MAX) : NULL;

	if (!place) {
		__atomic_add_fetch(&agent_page.dropped, 1, __ATOMIC_RELAXED);
		return;
	}
	__builtin_memcpy(&place->internal, &range->internal,
			 sizeof(*range) - offsetof(struct range, internal));
	__atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
}

static bool range_remove(uint64_t key, struct range *ret)
{
	struct keyed_table table = ranges_table();
	struct range *place = table.slots ? keyed_find(&table, key) : NULL;

	if (!place)
		return false;
	*ret = *place;
	return __atomic_compare_exchange_n(&place->key, &key, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void see_range(struct range *range, int operation)
{
	const struct sdk_context *context;
	unsigned next = 0;

	range->seen_count = 0;
	while (range->seen_count < RANGE_SEEN && (context = context_next(&next))) {
		unsigned i = context_number(context);
		bool has_callback = callback_wants(&context->callbacks[CALLBACK_MARKER_RANGE],
						   (unsigned)operation);
		uint64_t external;

		if (!has_callback &&
		    !buffer_wants(&context->buffers[BUFFER_MARKER_RANGE], (unsigned)operation))
			continue;
		external = external_current(i, (int32_t)range->thread);
		if (context->request && context->request_kinds & 1u << REQUEST_MARKER_RANGE)
			service_request(i, REQUEST_MARKER_RANGE, operation, range->internal,
					&external);
		range->seen[range->seen_count++] =
			(struct seen_by){ context->life, (uint8_t)i, has_callback, external, 0 };
	}
}

static void range_notify(struct range *range, int operation, enum callback_phase phase)
{
	for (uint32_t i = 0; i < range->seen_count; i++) {
		struct seen_by *seen = &range->seen[i];
		struct service_event event = { .kind = CALLBACK_MARKER_RANGE,
					       .operation = operation,
					       .phase = phase,
					       .payload = &range->data,
					       .internal = range->internal,
					       .ancestor = range->ancestor,
					       .thread = range->thread,
					       .external = &seen->external };

		if (seen->has_callback && sdk_contexts[seen->context].life == seen->life)
			service_notify(seen->context, &event, &seen->user_data);
	}
}

static void range_write(const struct range *range, int operation, uint64_t end)
{
	struct api_record record = {
		.size = sizeof(record),
		.kind = BUFFER_MARKER_RANGE,
		.operation = operation,
		.correlation = { range->internal, 0, range->ancestor },
		.start_ns = moment_ns(range->begin),
		.end_ns = moment_ns(end),
		.thread = range->thread,
	};

	record.end_ns = MAX(record.end_ns, record.start_ns);
	for (uint32_t i = 0; i < range->seen_count; i++) {
		const struct seen_by *seen = &range->seen[i];
		const struct sdk_context *context = &sdk_contexts[seen->context];

		record.correlation.external = seen->external;
		if (context->life == seen->life && context_state(context) == CONTEXT_ACTIVE &&
		    buffer_wants(&context->buffers[BUFFER_MARKER_RANGE], (unsigned)operation))
			buffer_write(seen->context, BUFFER_MARKER_RANGE, &record, sizeof(record));
	}
}

static void range_begin(struct call_frame *frame, int operation, struct range *range)
{
	range->internal = tools_next_id();
	range->ancestor = frame->ancestor;
	range->begin = frame->begin;
	range->thread = (uint64_t)frame->thread->number;
	range->data.size = sizeof(range->data);
	__builtin_memcpy(range->data.arguments, tools_frame_of(frame)->payload.bytes,
			 sizeof(range->data.arguments));
	range->data.result = frame->results[0];
	see_range(range, operation);
	range_notify(range, operation, PHASE_ENTER);
}

static void range_end(struct range *range, int operation, uint64_t end)
{
	range_notify(range, operation, PHASE_EXIT);
	range_write(range, operation, end);
	if (tools_retirements)
		tools_retire(range->internal);
}

static uint64_t key_of_thread(const struct call_thread *thread)
{
	return OF_A_THREAD | (uint64_t)(uint32_t)thread->number << THREAD_SHIFT |
	       (thread->range_depth & ((1u << THREAD_SHIFT) - 1));
}

/* Ids of process ranges begin at 1. */
static uint64_t key_of_process(uint64_t id)
{
	return (id << 1 | 1) & ~OF_A_THREAD;
}

static void on_mark(struct call_frame *frame, uint64_t end)
{
	bool is_mark = frame->slot->operation == CALL_MARK;
	struct range range;

	range_begin(frame, is_mark ? RANGE_MARK : RANGE_THREAD_ID, &range);
	range_end(&range, is_mark ? RANGE_MARK : RANGE_THREAD_ID, end);
}

static void on_push(struct call_frame *frame, uint64_t end)
{
	struct range range;

	(void)end;
	range_begin(frame, RANGE_OF_THREAD, &range);
	frame->thread->range_depth++;
	range_put(key_of_thread(frame->thread), &range);
}

/* A range pushed before a context wanted ranges has no entry. */
static void on_pop(struct call_frame *frame, uint64_t end)
{
	struct range range;

	if (!frame->thread->range_depth)
		return;
	if (range_remove(key_of_thread(frame->thread), &range))
		range_end(&range, RANGE_OF_THREAD, end);
	frame->thread->range_depth--;
}

static void on_start(struct call_frame *frame, uint64_t end)
{
	struct range range;

	(void)end;
	range_begin(frame, RANGE_OF_PROCESS, &range);
	range_put(key_of_process(frame->results[0]), &range);
}

static void on_stop(struct call_frame *frame, uint64_t end)
{
	struct range range;

	if (range_remove(key_of_process(frame->integers[0]), &range))
		range_end(&range, RANGE_OF_PROCESS, end);
}

void range_after(struct call_frame *frame, uint64_t end)
{
	static void (*const calls[])(struct call_frame *, uint64_t) = {
		[CALL_MARK] = on_mark,   [CALL_PUSH] = on_push, [CALL_POP] = on_pop,
		[CALL_START] = on_start, [CALL_STOP] = on_stop, [CALL_THREAD_ID] = on_mark,
	};

	if (frame->slot->operation < ARRAY_SIZE(calls))
		calls[frame->slot->operation](frame, end);
}

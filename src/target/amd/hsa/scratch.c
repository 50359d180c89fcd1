/*
 * Runs on threads of the runtime, which calls twice per event: at its begin and at its end.
 */
#include "target/amd/hsa/scratch.h"

#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/external.h"
#include "target/amd/sinks/sdk/moments.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/runtime/page.h"

#define BEGUN_MAX 32u

struct scratch_queue {
	uint32_t type, features;
	void *base;
	uint64_t doorbell;
	uint32_t size, reserved;
	uint64_t id;
};

/* The runtime's event; the last three fields are set only at the end of an allocation. */
struct scratch_event {
	uint32_t kind;
	const struct scratch_queue *queue;
	uint32_t flags;
	uint64_t dispatch, size, slots;
};

struct scratch_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	struct sdk_handle agent, queue;
	uint64_t thread, start_ns, end_ns;
	uint32_t flags;
	uint64_t bytes;
};
_Static_assert(sizeof(struct scratch_record) == 96, "as in the headers");

enum { ALLOCATED = 1, FREED, RECLAIMED };

/* Events under way, by thread. */
static struct {
	int32_t thread;
	uint64_t begin;
} begun[BEGUN_MAX];

static int on_begin(const struct scratch_event *event)
{
	int32_t thread = sdk_thread_number();

	(void)event;
	for (unsigned i = 0; i < BEGUN_MAX; i++) {
		int32_t nobody = 0;

		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) != thread &&
		    !__atomic_compare_exchange_n(&begun[i].thread, &nobody, thread, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		begun[i].begin = moment_ticks();
		break;
	}
	return 0;
}

/* The begin of the thread's event; now, if the begin was not seen. */
static uint64_t end_event(int32_t thread)
{
	for (unsigned i = 0; i < BEGUN_MAX; i++)
		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) == thread) {
			uint64_t begin = begun[i].begin;

			__atomic_store_n(&begun[i].thread, 0, __ATOMIC_RELAXED);
			return begin;
		}
	return moment_ticks();
}

static int write_event(const struct scratch_event *event, int operation)
{
	struct sdk_thread *thread = sdk_thread_mine();
	struct scratch_record record = { sizeof(record), BUFFER_SCRATCH, operation,
					 .flags = event->flags };

	if (!thread)
		return 0;
	record.start_ns = moment_ns(end_event(thread->number));
	record.end_ns = MAX(moment_now(), record.start_ns);
	record.thread = (uint64_t)thread->number;
	record.agent = agent_of_queue(event->queue);
	record.queue.handle = event->queue ? event->queue->id + 1 : 0;
	record.bytes = operation == ALLOCATED ? event->size : 0;
	record.correlation.internal =
		sdk_thread_current(thread, (uint64_t)__builtin_frame_address(0));
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		const struct buffer_service *service = &sdk_contexts[i].buffers[BUFFER_SCRATCH];

		if (context_state(&sdk_contexts[i]) != CONTEXT_ACTIVE || !service->buffer.handle ||
		    (service->operations && !(service->operations->bits[0] >> operation & 1)))
			continue;
		record.correlation.external = external_current(i, thread->number);
		buffer_write(i, BUFFER_SCRATCH, &record, sizeof(record));
	}
	return 0;
}

static int on_allocated(const struct scratch_event *event)
{
	return write_event(event, ALLOCATED);
}

static int on_freed(const struct scratch_event *event)
{
	return write_event(event, FREED);
}

static int on_reclaimed(const struct scratch_event *event)
{
	return write_event(event, RECLAIMED);
}

typedef int on_event(const struct scratch_event *);
static on_event *const functions[] = { on_begin, on_allocated, on_begin,
				       on_freed, on_begin,     on_reclaimed };

/* Entries with another tool's function are not changed. */
void scratch_change(uint64_t *slots, unsigned count, bool is_wanted)
{
	for (unsigned i = 0; i < MIN(count, (unsigned)ARRAY_SIZE(functions)); i++) {
		uint64_t ours = (uint64_t)functions[i], nothing = 0;

		if (is_wanted)
			__atomic_compare_exchange_n(&slots[i], &nothing, ours, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		else
			__atomic_compare_exchange_n(&slots[i], &ours, 0, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED);
		agent_page.has_hooked |= is_wanted;
	}
}

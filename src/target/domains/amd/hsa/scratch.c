/*
 * Runs on the runtime's threads, which call twice for each event: at its begin and at its end.
 */
#include "target/domains/amd/hsa/scratch.h"

#include "target/domains/amd/hsa/calls.h"
#include "target/domains/work.h"
#include "target/hooks/table.h"
#include "target/hooks/thread.h"

#define BEGUN_MAX 32u

/* The runtime's argument; the last three fields are valid only at the end of an allocation. */
struct scratch_event {
	uint32_t kind;
	const struct hsa_queue *queue;
	uint32_t flags;
	uint64_t dispatch, size, slots;
};

/* Events in progress, by thread. */
static struct {
	int32_t thread;
	uint64_t begin;
} begun[BEGUN_MAX];

static void begin_event(void)
{
	int32_t thread = thread_number();

	for (unsigned i = 0; i < BEGUN_MAX; i++) {
		int32_t nobody = 0;

		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) != thread &&
		    !__atomic_compare_exchange_n(&begun[i].thread, &nobody, thread, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		begun[i].begin = clock_ticks();
		return;
	}
}

/* Returns the event's begin; now, if that was not seen. */
static uint64_t end_event(void)
{
	int32_t thread = thread_number();

	for (unsigned i = 0; i < BEGUN_MAX; i++)
		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) == thread) {
			uint64_t begin = begun[i].begin;

			__atomic_store_n(&begun[i].thread, 0, __ATOMIC_RELAXED);
			return begin;
		}
	return clock_ticks();
}

static int write_event(const struct scratch_event *event, enum memory_operation operation)
{
	uint64_t begin = end_event(), end = clock_ticks();
	const uint64_t values[] = { operation == MEMORY_ALLOCATE ? event->size : 0,
				    DEVICE_UNKNOWN,
				    event->queue ? event->queue->id : 0,
				    operation,
				    event->flags,
				    (uint64_t)thread_number(),
				    0 };
	writer_seal seal;
	struct writer *writer = end ? writer_begin(&seal) : NULL;

	if (!end)
		writer_lose();
	if (writer) {
		(void)work_write(writer, DOMAIN_SCRATCH, begin, end, values);
		writer_end(writer, &seal);
	}
	return 0;
}

static int on_begin(const struct scratch_event *event)
{
	(void)event;
	begin_event();
	return 0;
}

static int on_allocated(const struct scratch_event *event)
{
	return write_event(event, MEMORY_ALLOCATE);
}

static int on_freed(const struct scratch_event *event)
{
	return write_event(event, MEMORY_FREE);
}

static int on_reclaimed(const struct scratch_event *event)
{
	return write_event(event, MEMORY_RECLAIM);
}

typedef int on_event(const struct scratch_event *);
static on_event *const functions[] = { on_begin, on_allocated, on_begin,
				       on_freed, on_begin,     on_reclaimed };

/* Events whose end was not seen would occupy slots for ever. */
static void forget_begun(void)
{
	static uint32_t session;

	if (session == writers_session())
		return;
	session = writers_session();
	for (unsigned i = 0; i < BEGUN_MAX; i++)
		__atomic_store_n(&begun[i].thread, 0, __ATOMIC_RELAXED);
}

bool scratch_hook(uint64_t *slots, unsigned count)
{
	bool is_ours = false;

	forget_begun();
	for (unsigned i = 0; i < MIN(count, (unsigned)ARRAY_SIZE(functions)); i++) {
		uint64_t there = __atomic_load_n(&slots[i], __ATOMIC_RELAXED);

		is_ours |= there == (uint64_t)functions[i] ||
			   (!there && !table_store(&slots[i], 0, (uint64_t)functions[i]));
	}
	return is_ours;
}

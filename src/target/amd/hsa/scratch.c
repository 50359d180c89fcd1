/*
 * Runs on the runtime's threads, which call twice for each event: at its begin and at its end.
 */
#include "target/amd/hsa/memory.h"

#include "target/amd/events/events.h"
#include "target/amd/events/moments.h"
#include "target/amd/hsa/layouts.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/page.h"

#define BEGUN_MAX 32u

/* The runtime's argument; the last three fields are valid only at the end of an allocation. */
struct scratch_call {
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
static bool is_seen;

/* Only tools can do without the machine's counter. */
static uint64_t scratch_ticks(void)
{
	return events_ring() ? clock_ticks() : moment_ticks();
}

static int on_begin(const struct scratch_call *call)
{
	int32_t thread = call_thread_number();

	(void)call;
	for (unsigned i = 0; i < BEGUN_MAX; i++) {
		int32_t none = 0;

		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) != thread &&
		    !__atomic_compare_exchange_n(&begun[i].thread, &none, thread, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		begun[i].begin = scratch_ticks();
		break;
	}
	return 0;
}

/* The begin of the thread's event; now, if the begin was not seen. */
static uint64_t event_end(int32_t thread)
{
	for (unsigned i = 0; i < BEGUN_MAX; i++)
		if (__atomic_load_n(&begun[i].thread, __ATOMIC_RELAXED) == thread) {
			uint64_t begin = begun[i].begin;

			__atomic_store_n(&begun[i].thread, 0, __ATOMIC_RELAXED);
			return begin;
		}
	return scratch_ticks();
}

static int event_report(const struct scratch_call *call, enum memory_operation operation)
{
	int32_t thread = call_thread_number();
	uint64_t begin = event_end(thread);

	events_scratch(&(struct scratch_event){
		operation, operation == MEMORY_ALLOCATE ? call->size : 0, call->flags, begin,
		scratch_ticks(), (uint64_t)thread, call->queue });
	return 0;
}

static int on_allocated(const struct scratch_call *call)
{
	return event_report(call, MEMORY_ALLOCATE);
}

static int on_freed(const struct scratch_call *call)
{
	return event_report(call, MEMORY_FREE);
}

static int on_reclaimed(const struct scratch_call *call)
{
	return event_report(call, MEMORY_RECLAIM);
}

typedef int on_event(const struct scratch_call *);
static on_event *const functions[] = { on_begin, on_allocated, on_begin,
				       on_freed, on_begin,     on_reclaimed };

/* Events whose end was not seen would occupy entries for ever. */
static void begun_forget(void)
{
	for (unsigned i = 0; i < BEGUN_MAX; i++)
		__atomic_store_n(&begun[i].thread, 0, __ATOMIC_RELAXED);
}

void scratch_change(uint64_t *entries, unsigned count, bool is_wanted)
{
	if (is_wanted && !is_seen)
		begun_forget();
	is_seen = false;
	for (unsigned i = 0; i < MIN(count, (unsigned)ARRAY_SIZE(functions)); i++) {
		uint64_t ours = (uint64_t)functions[i], nothing = 0;

		__atomic_compare_exchange_n(&entries[i], is_wanted ? &nothing : &ours,
					    is_wanted ? ours : 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
		is_seen |= __atomic_load_n(&entries[i], __ATOMIC_RELAXED) == (uint64_t)functions[i];
		agent_page.has_hooked |= is_wanted;
	}
}

bool scratch_is_seen(void)
{
	return is_seen;
}

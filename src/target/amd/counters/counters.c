/*
 * Counts single kernels. Runs on application threads, in their queue calls; and on limpet's
 * threads, at both ends of a session.
 */
#include "target/amd/counters/counters.h"

#include "shared/arch/syscall.h"
#include "target/amd/counters/kernel_sets.h"
#include "target/amd/counters/leaving.h"
#include "target/amd/counters/records.h"
#include "target/amd/counters/ring_slots.h"
#include "target/amd/counters/windows.h"
#include "target/amd/events/events.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"

#include <time.h>

#define MULTI          0u /* type of a queue */
#define GLANCE_NS      50000
#define GLANCES_MAX    500u
#define SIGNAL_GLANCES 4000u /* a fifth of a second */

static struct counter_request wanted;
static uint32_t is_on, skipped[COUNTER_SKIPS];
static uint64_t begun_at; /* in ticks */
static uint32_t ringing;  /* limpet's threads that ring doorbells of application queues */
static uint32_t
	reserving; /* application threads in counters_reserve(): sets are not freed meanwhile */

void counters_use(const struct counter_request *request)
{
	wanted = *request;
}

enum counting_fault counters_begin(void)
{
	enum counting_fault fault;

	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		skipped[i] = 0;
	leaving_begin();
	fault = counting_devices_begin(&wanted);
	begun_at = clock_ticks();
	__atomic_store_n(&is_on, !fault, __ATOMIC_RELEASE);
	return fault;
}

enum counting_fault counters_begin_windows(void)
{
	return windows_begin(&wanted);
}

bool counters_are_on(void)
{
	return __atomic_load_n(&is_on, __ATOMIC_ACQUIRE) && events_ring();
}

static struct counting_device *device_of(const struct known_queue *known)
{
	return known ? counting_device_of(known->agent) : NULL;
}

static void plain_note(struct known_queue *known, struct counting_device *device, uint64_t index)
{
	__atomic_store_n(&known->plain_last, index, __ATOMIC_RELAXED);
	__atomic_fetch_add(&known->plain_turn, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&device->plain_turn, 1, __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&known->has_plain, 1, __ATOMIC_RELAXED))
		__atomic_fetch_add(&device->plain_open, 1, __ATOMIC_RELAXED);
}

static struct ring_calls ring_calls_now(void)
{
	return (struct ring_calls){ hsa_calls.load_read, hsa_calls.load_write, hsa_calls.cas_write,
				    hsa_calls.signal_store };
}

static struct hsa_ring ring_of(const struct hsa_queue *queue, const struct known_queue *known)
{
	return (struct hsa_ring){ queue, known->base, known->size, known->doorbell,
				  __atomic_load_n(&known->counted_last, __ATOMIC_RELAXED) };
}

void counters_skip(const struct hsa_queue *queue, uint64_t index, enum counter_skip why)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);

	if (!device)
		return;
	__atomic_fetch_add(&skipped[why], 1, __ATOMIC_RELAXED);
	plain_note(known, device, index);
}

void counters_await_room(const struct hsa_queue *queue, uint64_t index)
{
	const struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct ring_calls calls = ring_calls_now();
	struct hsa_ring ring;

	if (!known)
		return;
	ring = ring_of(queue, known);
	if (ring.counted_last)
		slots_await(&calls, &ring, index);
}

void counters_queue_came(const struct hsa_queue *queue, uint64_t next)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);

	/* Acquire: pairs with counters_begin(). */
	if (!device || !__atomic_load_n(&is_on, __ATOMIC_ACQUIRE) ||
	    (int64_t)(next - hsa_calls.load_read(queue)) <= 0)
		return;
	plain_note(known, device, next - 1);
	plain_record_write(known, device, begun_at, clock_ticks());
}

static bool packets_reserve(const struct hsa_queue *queue, uint64_t *ret_index)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);
	struct ring_calls calls = ring_calls_now();
	struct counter_set *set;
	struct hsa_ring ring;
	uint64_t first;

	if (!device || queue->type != MULTI)
		return false;
	/* Checks for room first: without room, no set is claimed. */
	ring = ring_of(queue, known);
	set = slots_have_room(&calls, &ring) ? set_claim_free(device) : NULL;
	if (!set)
		return false;
	ring = ring_of(queue, known);
	if (!slots_reserve(&calls, &ring, &first)) {
		set_put_back(set);
		return false;
	}
	/* From here to the end of slots_fill() the device may wait for this thread: it only writes
	 * memory, and values of limpet's own signals. */
	set_begin(set, known, first);
	slots_note(&known->counted_last, first + SLOTS_EXTRA);
	slots_fill(&ring, first, &set->aql.packets, set->signal);
	*ret_index = first + 1;
	return true;
}

bool counters_reserve(const struct hsa_queue *queue, uint64_t *ret_index)
{
	bool is_reserved;

	/* Seq_cst, both: pairs with counters_stop(). */
	__atomic_fetch_add(&reserving, 1, __ATOMIC_SEQ_CST);
	is_reserved =
		__atomic_load_n(&is_on, __ATOMIC_SEQ_CST) && packets_reserve(queue, ret_index);
	__atomic_fetch_sub(&reserving, 1, __ATOMIC_RELEASE);
	return is_reserved;
}

struct counter_set *counters_find_set(const struct known_queue *known, uint64_t index)
{
	struct counting_device *device =
		__atomic_load_n(&is_on, __ATOMIC_RELAXED) ? device_of(known) : NULL;

	for (unsigned i = 0; device && i < SETS_OF_DEVICE; i++)
		if (__atomic_load_n(&device->keys[i].doorbell, __ATOMIC_ACQUIRE) ==
			    known->doorbell &&
		    __atomic_load_n(&device->keys[i].index, __ATOMIC_RELAXED) == index)
			return &device->sets[i];
	return NULL;
}

uint64_t counters_last_of(const struct known_queue *known, uint64_t index)
{
	return counters_find_set(known, index) ? index + SLOTS_EXTRA - 1 : index;
}

void counters_describe(struct counter_set *set, const struct hsa_command *command)
{
	if (command) {
		set->command = *command;
		set->is_kernel = true;
	} else {
		set_finish(set, PART_TIMES);
	}
}

void counters_store_times(const struct hsa_command *command, const struct device_times *times)
{
	struct counter_set *set = command->counted;

	/* The set may already be around another packet. */
	if (!set || set_use(set) != command->counted_use ||
	    __atomic_load_n(&set->state, __ATOMIC_ACQUIRE) != SET_TAKEN)
		return;
	set->times = *times;
	set_finish(set, PART_TIMES);
}

/* Rings for limpet's packets, because the application may not ring again. hsa_queue_forget() runs
 * before a queue is destroyed, and waits for `ringing`. */
static void set_ring(struct counter_set *set, void *data)
{
	uint64_t doorbell = __atomic_load_n(&set->key->doorbell, __ATOMIC_ACQUIRE);
	uint64_t index = __atomic_load_n(&set->key->index, __ATOMIC_RELAXED);

	(void)data;
	/* Acquire: the index belongs to this queue if the doorbell is unchanged. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!doorbell || __atomic_load_n(&set->key->doorbell, __ATOMIC_RELAXED) != doorbell)
		return;
	if (set->state != SET_TAKEN || set->work != WORK_DEVICE)
		return;
	__atomic_fetch_add(&ringing, 1, __ATOMIC_SEQ_CST);
	if (hsa_queue_of(doorbell))
		hsa_calls.signal_store(doorbell, (int64_t)(index + SLOTS_EXTRA - 1));
	__atomic_fetch_sub(&ringing, 1, __ATOMIC_RELEASE);
}

static void wait_for_none(const uint32_t *threads)
{
	struct timespec pause = { 0, GLANCE_NS };

	for (unsigned i = 0; i < GLANCES_MAX && __atomic_load_n(threads, __ATOMIC_SEQ_CST); i++)
		raw2(SYS_nanosleep, &pause, 0);
}

void counters_queue_leaves(const struct hsa_queue *queue)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);

	leaving_queue(queue, known);
	if (device && __atomic_exchange_n(&known->has_plain, 0, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&device->plain_open, 1, __ATOMIC_RELAXED);
	hsa_queue_forget(queue);
	/* Seq_cst: pairs with set_ring(), which counts itself before it looks the queue up. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wait_for_none(&ringing);
}

static void set_count(struct counter_set *set, void *data)
{
	*(uint32_t *)data += set->state == SET_TAKEN &&
			     __atomic_load_n(&set->work, __ATOMIC_ACQUIRE) != WORK_NONE;
}

void counters_stop(void)
{
	/* Seq_cst: pairs with counters_reserve(). */
	if (!__atomic_exchange_n(&is_on, 0, __ATOMIC_SEQ_CST))
		return;
	wait_for_none(&reserving);
	if (!hsa_gate_enter())
		return;
	counting_sets_each(set_ring, NULL);
	hsa_gate_leave();
}

uint32_t counters_under_way(void)
{
	uint32_t open = 0;

	counting_sets_each(set_count, &open);
	return open;
}

/* Writes unfinished sets, and sets whose signals the application never read, as they are. */
struct counters_left counters_end(void)
{
	struct counters_left left = { .cut = counters_under_way() };

	leaving_give_up();
	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		left.skipped[i] = __atomic_exchange_n(&skipped[i], 0, __ATOMIC_RELAXED);
	return left;
}

/* The runtime's own thread calls the handlers of signals. */
static void signals_await(void)
{
	struct timespec pause = { 0, GLANCE_NS };

	for (unsigned i = 0; i < SIGNAL_GLANCES && counting_signals_left(); i++)
		raw2(SYS_nanosleep, &pause, 0);
}

bool counters_give_back(void)
{
	/* Acquire: pairs with counters_reserve(). If a thread is still inside, all sets stay. */
	bool is_empty = leaving_is_empty() && !__atomic_load_n(&reserving, __ATOMIC_ACQUIRE);

	if (!counting_library())
		return is_empty;
	if (is_empty)
		counting_devices_end();
	else
		counting_devices_leave();
	signals_await();
	return is_empty;
}

void counters_forget(void)
{
	__atomic_store_n(&is_on, 0, __ATOMIC_RELEASE);
	windows_forget();
	counting_devices_forget();
}

void counters_forget_parent(void)
{
	packet_sets_forget_parent();
	counters_forget();
	leaving_forget_parent();
	__atomic_store_n(&reserving, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ringing, 0, __ATOMIC_RELAXED);
}

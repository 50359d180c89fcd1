/*
 * Runs on threads of the program's, in its calls of queues, and on the runtime's, where a signal of
 * ours calls.  No lock: whoever takes a set owns it.
 */
#include "target/domains/amd/counters/counters.h"

#include "shared/arch/syscall.h"
#include "target/domains/amd/counters/records.h"
#include "target/domains/amd/counters/slots.h"
#include "target/domains/amd/hsa/signals.h"
#include "target/hooks/clock.h"
#include "target/hooks/writer.h"
#include "target/runtime/hsa_gate.h"

#include <time.h>

#define MULTI         0u /* type of a queue */
#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u /* two seconds */
#define GLANCE_NS     50000
#define GLANCES_MAX   500u

static struct counter_request wanted;
static uint32_t is_on, skipped[COUNTER_SKIPS];
static uint32_t is_farewell_said;
static uint32_t ringing;   /* threads of ours, for queues of the program's */
static uint32_t reserving; /* threads of the program's: sets are not given back under them */

void counters_start(const struct trace_request *request)
{
	counter_request_read(request, &wanted);
}

enum counting_fault counters_begin(void)
{
	enum counting_fault fault;

	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		skipped[i] = 0;
	fault = counting_devices_begin(&wanted);
	__atomic_store_n(&is_on, !fault, __ATOMIC_RELEASE);
	return fault;
}

bool counters_are_on(void)
{
	return __atomic_load_n(&is_on, __ATOMIC_ACQUIRE) && writers_are_on();
}

static struct counting_device *device_of(const struct known_queue *known)
{
	return known ? counting_device_of(known->agent) : NULL;
}

void counters_skip(const struct hsa_queue *queue, uint64_t index, enum counter_skip why)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);

	if (!device)
		return;
	__atomic_fetch_add(&skipped[why], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&known->plain_last, index, __ATOMIC_RELAXED);
	__atomic_fetch_add(&known->plain_turn, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&device->plain_turn, 1, __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&known->has_plain, 1, __ATOMIC_RELAXED))
		__atomic_fetch_add(&device->plain_open, 1, __ATOMIC_RELAXED);
}

static bool set_take(struct counter_set *set)
{
	uint32_t is_free = SET_FREE;

	return __atomic_compare_exchange_n(&set->state, &is_free, SET_TAKEN, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void set_put_back(struct counter_set *set)
{
	set->doorbell = set->signal = 0;
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
}

/* Where both are there, or it is enough: written once. */
static void set_finish(struct counter_set *set, uint32_t part, bool is_enough)
{
	uint32_t parts = __atomic_or_fetch(&set->parts, part, __ATOMIC_ACQ_REL);

	if (parts & PART_WRITTEN || !(parts & PART_COUNTS) || (!(parts & PART_TIMES) && !is_enough))
		return;
	if (__atomic_fetch_or(&set->parts, PART_WRITTEN, __ATOMIC_ACQ_REL) & PART_WRITTEN)
		return;
	counter_record_write(set);
	set_put_back(set);
}

/* The device is done with it, and only the program's look at its own signal is missing: that may
 * never come. */
static void set_hurry(struct counter_set *set, void *data)
{
	(void)data;
	if (__atomic_load_n(&set->state, __ATOMIC_ACQUIRE) == SET_TAKEN)
		set_finish(set, 0, /* is_enough */ true);
}

static struct counter_set *set_find_free(struct counting_device *device)
{
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < SETS_OF_DEVICE; i++)
			if (set_take(&device->sets[i]))
				return &device->sets[i];
		counting_sets_each(set_hurry, NULL);
	}
	return NULL;
}

static bool on_read(int64_t value, void *data);

/* How often packets went by uncounted in other queues of the device: those of its own wait. */
static uint32_t turns_of_others(const struct counting_device *device,
				const struct known_queue *known)
{
	return __atomic_load_n(&device->plain_turn, __ATOMIC_RELAXED) -
	       __atomic_load_n(&known->plain_turn, __ATOMIC_RELAXED);
}

static void set_begin(struct counter_set *set, const struct known_queue *known, uint64_t first)
{
	const struct counting_device *device = set->device;
	uint32_t open = __atomic_load_n(&device->plain_open, __ATOMIC_RELAXED);

	set->parts = 0;
	set->value_count = 0;
	set->index = first + 1;
	set->begin = set->end = 0;
	set->asked = clock_ticks();
	set->is_kernel = set->is_gone = false;
	set->plain_turn = turns_of_others(device, known);
	set->is_mixed = open > __atomic_load_n(&known->has_plain, __ATOMIC_RELAXED);
	set->signal = hsa_signal_take(on_read);
	/* Release: from now on it is found.  Without a signal it is never under way. */
	__atomic_store_n(&set->doorbell, set->signal ? known->doorbell : 0, __ATOMIC_RELEASE);
}

static bool packets_reserve(const struct hsa_queue *queue, uint64_t *ret_index)
{
	struct known_queue *known = hsa_queue_of(queue->doorbell);
	struct counting_device *device = device_of(known);
	struct counter_set *set;
	uint64_t first, signal;

	if (!device || queue->type != MULTI)
		return false;
	set = set_find_free(device);
	if (!set)
		return false;
	if (!slots_reserve(known, &first)) {
		set_put_back(set);
		return false;
	}
	set_begin(set, known, first);
	signal = set->signal; /* once they are put, it may be another kernel's */
	slots_fill(known, first, set, signal);
	__atomic_store_n(&known->counted_last, first + SLOTS_EXTRA, __ATOMIC_RELAXED);
	if (!signal)
		set_put_back(set);
	*ret_index = first + 1;
	return true;
}

bool counters_reserve(const struct hsa_queue *queue, uint64_t *ret_index)
{
	bool is_reserved;

	/* Sequential, both: pairs with counters_stop(). */
	__atomic_fetch_add(&reserving, 1, __ATOMIC_SEQ_CST);
	is_reserved =
		__atomic_load_n(&is_on, __ATOMIC_SEQ_CST) && packets_reserve(queue, ret_index);
	__atomic_fetch_sub(&reserving, 1, __ATOMIC_RELEASE);
	return is_reserved;
}

struct set_search {
	uint64_t doorbell, index, signal;
	struct counter_set *found;
};

static void set_match(struct counter_set *set, void *data)
{
	struct set_search *search = data;

	if (search->signal
		    ? set->signal == search->signal
		    : __atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE) == search->doorbell &&
			      set->index == search->index)
		search->found = set;
}

struct counter_set *counters_find(uint64_t doorbell, uint64_t index)
{
	struct set_search search = { doorbell, index, 0, NULL };

	if (__atomic_load_n(&is_on, __ATOMIC_RELAXED))
		counting_sets_each(set_match, &search);
	return search.found;
}

uint64_t counters_last_of(uint64_t doorbell, uint64_t index)
{
	return counters_find(doorbell, index) ? index + SLOTS_EXTRA - 1 : index;
}

void counters_describe(struct counter_set *set, const struct hsa_command *command)
{
	if (command) {
		set->command = *command;
		set->is_kernel = true;
	} else {
		set_finish(set, PART_TIMES, false);
	}
}

void counters_take_times(const struct hsa_command *command, uint64_t begin, uint64_t end)
{
	struct counter_set *set = command->counted;

	/* It may be around another by now. */
	if (!set || set->index != command->counted_index ||
	    __atomic_load_n(&set->state, __ATOMIC_ACQUIRE) != SET_TAKEN)
		return;
	set->begin = begin;
	set->end = end;
	set_finish(set, PART_TIMES, false);
}

static int value_note(struct pmc_event event, uint64_t sample, uint64_t value, void *data)
{
	struct counter_set *set = data;

	(void)event, (void)sample;
	if (set->value_count == VALUES_MAX)
		return 1;
	set->values[set->value_count++] = value;
	return 0;
}

/* All packets before it in its queue are done: what went by there uncounted, too. */
static void plain_settle(const struct counter_set *set, struct known_queue *known)
{
	if ((int64_t)(set->index - known->plain_last) > 0 &&
	    __atomic_exchange_n(&known->has_plain, 0, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&set->device->plain_open, 1, __ATOMIC_RELAXED);
}

static void set_read(struct counter_set *set)
{
	struct known_queue *known = hsa_queue_of(set->doorbell);

	set->is_mixed |= !known || set->plain_turn != turns_of_others(set->device, known);
	if (known)
		plain_settle(set, known);
	/* What is not whole is told as not there. */
	if (!set->is_gone && counting_library()->iterate(set->handle, value_note, set))
		set->value_count = 0;
	set_finish(set, PART_COUNTS, set->is_gone);
}

/* A signal of ours: the device has read its counters. */
static bool on_read(int64_t value, void *data)
{
	struct set_search search = { 0, 0, (uint64_t)data, NULL };

	(void)value;
	counting_sets_each(set_match, &search);
	if (search.found) {
		/* Sequential: pairs with set_abandon(). */
		__atomic_store_n(&search.found->signal, 0, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&search.found->state, __ATOMIC_SEQ_CST) == SET_ABANDONED)
			__atomic_store_n(&search.found->state, SET_STALE, __ATOMIC_RELEASE);
		else
			set_read(search.found);
	}
	hsa_signal_give_back((uint64_t)data);
	return false;
}

static void set_lose(struct counter_set *set, void *data)
{
	const uint64_t *doorbell = data;
	uint64_t signal = __atomic_load_n(&set->signal, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE) != *doorbell || !signal)
		return;
	/* It may be about to call already, or be another's by now. */
	if (hsa_calls.signal_load(signal) != 1 ||
	    __atomic_load_n(&set->signal, __ATOMIC_ACQUIRE) != signal)
		return;
	set->is_gone = true;
	hsa_calls.signal_store(signal, 0); /* it calls, and is given back */
}

void counters_queue_is_gone(uint64_t doorbell)
{
	counting_sets_each(set_lose, &doorbell);
}

/* The program may have no reason to ring again.  A queue that is being destroyed is forgotten
 * first, and waits for us. */
static void set_ring(struct counter_set *set, void *data)
{
	uint64_t doorbell = __atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE);
	uint64_t index = __atomic_load_n(&set->index, __ATOMIC_RELAXED);

	(void)data;
	/* Acquire: the index is that queue's, where the doorbell is still the same. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!doorbell || __atomic_load_n(&set->doorbell, __ATOMIC_RELAXED) != doorbell)
		return;
	if (set->state != SET_TAKEN || !set->signal)
		return;
	__atomic_fetch_add(&ringing, 1, __ATOMIC_SEQ_CST);
	if (hsa_queue_of(doorbell))
		hsa_calls.ring(doorbell, (int64_t)(index + SLOTS_EXTRA - 1));
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

	if (device && __atomic_exchange_n(&known->has_plain, 0, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&device->plain_open, 1, __ATOMIC_RELAXED);
	hsa_queue_forget(queue);
	/* Sequential: pairs with set_ring(); a processor may look before others see it forgotten.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wait_for_none(&ringing);
}

static void set_count(struct counter_set *set, void *data)
{
	*(uint32_t *)data += set->state == SET_TAKEN && set->signal;
}

static void set_abandon(struct counter_set *set, void *data)
{
	uint32_t is_taken = SET_TAKEN;

	(void)data;
	/* Without a doorbell, a thread is about to put its packets. */
	if (!__atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE))
		return;
	set_hurry(set, NULL);
	if (__atomic_load_n(&set->state, __ATOMIC_ACQUIRE) != SET_TAKEN ||
	    __atomic_fetch_or(&set->parts, PART_WRITTEN, __ATOMIC_ACQ_REL) & PART_WRITTEN)
		return;
	counter_record_write(set);
	/* Sequential: pairs with on_read(). */
	if (__atomic_compare_exchange_n(&set->state, &is_taken, SET_ABANDONED, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&set->signal, __ATOMIC_SEQ_CST))
		__atomic_store_n(&set->state, SET_STALE, __ATOMIC_RELEASE);
}

/* A signal of ours, at the end: on a thread of the runtime's, since our own write no records. */
static bool on_farewell(int64_t value, void *data)
{
	(void)value;
	counting_sets_each(set_abandon, NULL);
	__atomic_store_n(&is_farewell_said, 1, __ATOMIC_RELEASE);
	hsa_signal_give_back((uint64_t)data);
	return false;
}

static void set_count_taken(struct counter_set *set, void *data)
{
	*(uint32_t *)data += __atomic_load_n(&set->state, __ATOMIC_ACQUIRE) == SET_TAKEN;
}

/* What the device has not done, or the program has not looked at, is written as it is. */
static void farewell_say(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	uint32_t taken = 0;
	uint64_t signal;

	counting_sets_each(set_count_taken, &taken);
	if (!taken || !hsa_gate_enter())
		return;
	__atomic_store_n(&is_farewell_said, 0, __ATOMIC_RELAXED);
	signal = hsa_signal_take(on_farewell);
	if (signal)
		hsa_calls.signal_store(signal, 0);
	for (unsigned i = 0; signal && i < DRAIN_STEPS; i++) {
		if (__atomic_load_n(&is_farewell_said, __ATOMIC_ACQUIRE))
			break;
		raw2(SYS_nanosleep, &pause, 0);
	}
	hsa_gate_leave();
}

void counters_stop(void)
{
	/* Sequential: pairs with counters_reserve(). */
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

struct counters_left counters_end(void)
{
	struct counters_left left = { .cut = counters_under_way() };

	farewell_say();
	counting_sets_each(set_abandon, NULL);
	for (unsigned i = 0; i < COUNTER_SKIPS; i++)
		left.skipped[i] = __atomic_exchange_n(&skipped[i], 0, __ATOMIC_RELAXED);
	return left;
}

void counters_give_back(void)
{
	if (!counting_library())
		return;
	/* Acquire: pairs with counters_reserve().  Where a thread is still at it, all sets stay. */
	if (__atomic_load_n(&reserving, __ATOMIC_ACQUIRE))
		counting_devices_leave();
	else
		counting_devices_end();
}

void counters_forget_threads(void)
{
	__atomic_store_n(&reserving, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ringing, 0, __ATOMIC_RELAXED);
}

void counters_forget(void)
{
	__atomic_store_n(&is_on, 0, __ATOMIC_RELEASE);
	counting_devices_forget();
}

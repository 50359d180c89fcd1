/*
 * Runs on application threads, in their queue calls, and on the runtime's thread that calls the
 * handlers of signals. No lock: claiming a set makes the thread its owner.
 *
 * A set keeps its signal, whose handler the runtime calls at the end of each read: counting a
 * kernel makes and registers no signal, and no thread waits for one while it reserves slots.
 */
#include "target/amd/counters/kernel_sets.h"

#include "target/amd/counters/records.h"
#include "target/amd/hsa/signals.h"
#include "target/amd/tables/threads.h"
#include "target/hooks/clock.h"

static uint64_t last_use;
static int32_t reader; /* the runtime's thread that called a handler last; 0: unknown */

static bool on_read(int64_t value, void *data);

uint64_t sets_last_use(void)
{
	return __atomic_load_n(&last_use, __ATOMIC_ACQUIRE);
}

uint64_t set_use(const struct counter_set *set)
{
	return __atomic_load_n(&set->use, __ATOMIC_ACQUIRE);
}

bool sets_are_read_here(void)
{
	return __atomic_load_n(&reader, __ATOMIC_RELAXED) == call_thread_number();
}

static bool set_claim(struct counter_set *set)
{
	uint32_t is_free = SET_FREE;

	return __atomic_compare_exchange_n(&set->state, &is_free, SET_TAKEN, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void set_put_back(struct counter_set *set)
{
	__atomic_store_n(&set->key->doorbell, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&set->state, SET_FREE, __ATOMIC_RELEASE);
}

/* Writes the record once, when the counts are read and the kernel's times are final. */
static void set_finish_enough(struct counter_set *set, uint32_t part, bool is_enough)
{
	uint32_t parts = __atomic_or_fetch(&set->parts, part, __ATOMIC_ACQ_REL);

	if (parts & PART_WRITTEN || !(parts & PART_COUNTS) || (!(parts & PART_TIMES) && !is_enough))
		return;
	if (__atomic_fetch_or(&set->parts, PART_WRITTEN, __ATOMIC_ACQ_REL) & PART_WRITTEN)
		return;
	counter_record_write(set);
	set_put_back(set);
}

void set_finish(struct counter_set *set, uint32_t part)
{
	set_finish_enough(set, part, /* is_enough */ false);
}

/* Completes a set that lacks only the times, for which the application would have to read its own
 * signal: it may never do so. */
static void set_hurry(struct counter_set *set)
{
	if (__atomic_load_n(&set->state, __ATOMIC_ACQUIRE) == SET_TAKEN)
		set_finish_enough(set, 0, /* is_enough */ true);
}

static struct counter_set *set_find_free(struct counting_device *device)
{
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < SETS_OF_DEVICE; i++)
			if (set_claim(&device->sets[i]))
				return &device->sets[i];
		for (unsigned i = 0; i < SETS_OF_DEVICE; i++)
			if (__atomic_load_n(&device->sets[i].state, __ATOMIC_ACQUIRE))
				set_hurry(&device->sets[i]);
	}
	return NULL;
}

struct counter_set *set_claim_free(struct counting_device *device)
{
	struct counter_set *set = set_find_free(device);

	if (!set || set->signal)
		return set;
	set->signal = hsa_signal_acquire(on_read, set);
	if (set->signal)
		return set;
	set_put_back(set);
	return NULL;
}

uint32_t turns_of_others(const struct counting_device *device, const struct known_queue *known)
{
	return __atomic_load_n(&device->plain_turn, __ATOMIC_RELAXED) -
	       __atomic_load_n(&known->plain_turn, __ATOMIC_RELAXED);
}

bool set_is_at_device(const struct counter_set *set)
{
	uint64_t signal = __atomic_load_n(&set->signal, __ATOMIC_ACQUIRE);

	return signal && __atomic_load_n(&set->work, __ATOMIC_ACQUIRE) == WORK_DEVICE &&
	       hsa_calls.signal_load(signal) == 1;
}

/* A set of an earlier session may be in a destroyed queue, so its queue must be known. */
static bool is_in_the_way(const struct counter_set *set, uint64_t doorbell)
{
	uint32_t state = __atomic_load_n(&set->state, __ATOMIC_ACQUIRE);

	return (state == SET_TAKEN || (state == SET_ABANDONED && hsa_queue_of(doorbell))) &&
	       set_is_at_device(set);
}

/* A start packet sets the device's counters to 0 for all queues: unread sets of other queues may be
 * mixed with this one. Execution times do not show that: they exclude starts and reads. */
static void set_meet_others(struct counter_set *set, uint64_t doorbell)
{
	struct counting_device *device = set->device;

	for (unsigned i = 0; i < SETS_OF_DEVICE; i++) {
		/* Seq_cst: of two sets that begin at the same time one sees the other. */
		uint64_t other = __atomic_load_n(&device->keys[i].doorbell, __ATOMIC_SEQ_CST);

		if (!other || other == doorbell || !is_in_the_way(&device->sets[i], other))
			continue;
		__atomic_store_n(&device->sets[i].is_mixed, true, __ATOMIC_RELAXED);
		set->is_mixed = true;
	}
}

void set_begin(struct counter_set *set, const struct known_queue *known, uint64_t first)
{
	const struct counting_device *device = set->device;
	uint32_t open = __atomic_load_n(&device->plain_open, __ATOMIC_RELAXED);

	set->parts = 0;
	set->value_count = 0;
	set->times = (struct device_times){ 0 };
	set->asked = clock_ticks();
	set->is_kernel = false;
	__atomic_store_n(&set->use, __atomic_add_fetch(&last_use, 1, __ATOMIC_ACQ_REL),
			 __ATOMIC_RELAXED);
	set->plain_turn = turns_of_others(device, known);
	set->is_mixed = open > __atomic_load_n(&known->has_plain, __ATOMIC_RELAXED);
	/* Release: pairs with is_lost(). */
	__atomic_store_n(&set->work, WORK_DEVICE, __ATOMIC_RELEASE);
	__atomic_store_n(&set->key->index, first + 1, __ATOMIC_RELAXED);
	/* Publishes the set. */
	__atomic_store_n(&set->key->doorbell, known->doorbell, __ATOMIC_SEQ_CST);
	set_meet_others(set, known->doorbell);
}

/* All packets before it in its queue have ended, including uncounted packets. */
static void plain_settle(const struct counter_set *set, struct known_queue *known)
{
	if ((int64_t)(set->key->index - known->plain_last) > 0 &&
	    __atomic_exchange_n(&known->has_plain, 0, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&set->device->plain_open, 1, __ATOMIC_RELAXED);
}

static bool were_others(const struct counter_set *set, const struct known_queue *known)
{
	return set->plain_turn != turns_of_others(set->device, known);
}

static bool set_is_in(const struct counter_set *set, uint64_t doorbell)
{
	return __atomic_load_n(&set->key->doorbell, __ATOMIC_ACQUIRE) == doorbell;
}

void set_leave_queue(struct counter_set *set, const struct known_queue *known)
{
	uint64_t use = set_use(set);

	/* Release: pairs with set_read(). */
	if (set_is_in(set, known->doorbell))
		__atomic_store_n(&set->left, use << 1 | were_others(set, known), __ATOMIC_RELEASE);
}

static void set_read(struct counter_set *set)
{
	struct known_queue *known = hsa_queue_of(set->key->doorbell);

	/* Acquire, after the queue was looked up: pairs with set_leave_queue(). */
	uint64_t left = __atomic_load_n(&set->left, __ATOMIC_ACQUIRE);
	bool is_gone = __atomic_load_n(&set->gone, __ATOMIC_ACQUIRE) == set->use;

	if (left >> 1 == set->use)
		known = NULL;
	if (left >> 1 == set->use ? left & 1 : !known || were_others(set, known))
		set->is_mixed = true;
	if (known)
		plain_settle(set, known);
	/* Incomplete counts are recorded as missing. */
	if (!is_gone)
		(void)counting_set_read(set);
	set_finish_enough(set, PART_COUNTS, is_gone);
}

/* No read was requested: gives the set's signal up. */
static bool signal_leave(struct counter_set *set)
{
	uint64_t signal = __atomic_exchange_n(&set->signal, 0, __ATOMIC_ACQ_REL);

	if (signal)
		hsa_signal_give_back(signal);
	return false;
}

static bool work_change(struct counter_set *set, uint32_t from, uint32_t to)
{
	/* Seq_cst: pairs with set_abandon(). */
	return __atomic_compare_exchange_n(&set->work, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* The set is not in use any more: its memory may be freed. */
static void set_spoil(struct counter_set *set)
{
	uint32_t is_abandoned = SET_ABANDONED;

	(void)__atomic_compare_exchange_n(&set->state, &is_abandoned, SET_STALE, false,
					  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The device has read its counters. True: the runtime calls this handler again. */
static bool on_read(int64_t value, void *data)
{
	struct counter_set *set = data;
	bool is_abandoned;

	(void)value;
	__atomic_store_n(&reader, call_thread_number(), __ATOMIC_RELAXED);
	if (!work_change(set, WORK_DEVICE, WORK_READING))
		return signal_leave(set);
	is_abandoned = __atomic_load_n(&set->state, __ATOMIC_SEQ_CST) == SET_ABANDONED;
	if (is_abandoned) {
		(void)signal_leave(set);
	} else {
		/* Stored before another kernel may get the set. */
		hsa_calls.signal_store(set->signal, 1);
		set_read(set);
	}
	/* Fails if another kernel has the set by now. */
	if (work_change(set, WORK_READING, WORK_NONE))
		set_spoil(set);
	return !is_abandoned;
}

/* The signal may be calling its handler just now: on_read() reuses the set before it sets the
 * signal again, so the use is read last. */
static bool is_lost(const struct counter_set *set, uint64_t signal, uint64_t use)
{
	return __atomic_load_n(&set->state, __ATOMIC_SEQ_CST) == SET_TAKEN && signal &&
	       hsa_calls.signal_load(signal) == 1 &&
	       __atomic_load_n(&set->work, __ATOMIC_ACQUIRE) == WORK_DEVICE && set_use(set) == use;
}

/* Another thread may have done so, and the set be around another packet since. */
static bool set_is_first_to_go(struct counter_set *set, uint64_t use)
{
	uint64_t gone = __atomic_load_n(&set->gone, __ATOMIC_ACQUIRE);

	return gone < use && __atomic_compare_exchange_n(&set->gone, &gone, use, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void set_lose(struct counter_set *set, uint64_t doorbell, uint64_t last)
{
	uint64_t use = set_use(set), signal = __atomic_load_n(&set->signal, __ATOMIC_ACQUIRE);

	if (use <= last && set_is_in(set, doorbell) && is_lost(set, signal, use) &&
	    set_is_first_to_go(set, use))
		hsa_calls.signal_store(signal, 0); /* runs the handler */
}

void set_abandon(struct counter_set *set)
{
	uint32_t is_taken = SET_TAKEN;

	/* Without a doorbell, a thread is about to write the set's packets. */
	if (!__atomic_load_n(&set->key->doorbell, __ATOMIC_ACQUIRE))
		return;
	set_hurry(set);
	if (__atomic_load_n(&set->state, __ATOMIC_ACQUIRE) != SET_TAKEN ||
	    __atomic_fetch_or(&set->parts, PART_WRITTEN, __ATOMIC_ACQ_REL) & PART_WRITTEN)
		return;
	counter_record_write(set);
	/* Seq_cst: pairs with on_read(). */
	if (__atomic_compare_exchange_n(&set->state, &is_taken, SET_ABANDONED, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&set->work, __ATOMIC_SEQ_CST) == WORK_NONE)
		set_spoil(set);
}

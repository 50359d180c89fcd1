/*
 * Runs on application threads, in their calls: waits for devices, and at the end for the runtime's
 * own thread, never for anything that the application may hold.
 */
#include "target/amd/counters/leaving.h"

#include "target/amd/counters/kernel_sets.h"
#include "target/amd/counters/ring_slots.h"
#include "target/runtime/patience.h"

#define GLANCE_NS    50000
#define LIMIT_NS     2000000000ull
#define LIMIT_MIN_NS 1000000ull
#define SHRINK       4u
#define EMPTY_NS     100000000ull
#define LAST_NS      100000000ull

/* Shrinks after each timeout: a hung device may have many queues. */
static uint64_t limit_ns;
static uint32_t inside; /* threads that may be reading limpet's signals */

struct leaving {
	const struct hsa_queue *queue; /* NULL: all queues */
	uint64_t read;                 /* its first packet that the device has not fetched */
	uint64_t last;                 /* ignores sets that other threads begin meanwhile */
	uint32_t awaited;
};

void leaving_begin(void)
{
	__atomic_store_n(&limit_ns, LIMIT_NS, __ATOMIC_RELAXED);
}

static bool set_is_in(const struct counter_set *set, uint64_t doorbell)
{
	return __atomic_load_n(&set->key->doorbell, __ATOMIC_ACQUIRE) == doorbell;
}

/* Seq_cst: pairs with set_abandon(), after which no thread reads the set's signal. */
static bool is_at_device(const struct counter_set *set)
{
	return __atomic_load_n(&set->state, __ATOMIC_SEQ_CST) == SET_TAKEN && set_is_at_device(set);
}

static bool kernel_is_done(const struct counter_set *set)
{
	return set->is_kernel && __atomic_load_n(&set->parts, __ATOMIC_ACQUIRE) & PART_TIMES;
}

/* Excludes sets behind a packet that the application has not written yet. */
static bool is_awaited_in(const struct counter_set *set, const struct leaving *leaving)
{
	uint64_t index = __atomic_load_n(&set->key->index, __ATOMIC_RELAXED);

	return set_use(set) <= leaving->last && set_is_in(set, leaving->queue->doorbell) &&
	       is_at_device(set) && ((int64_t)(leaving->read - index) > 0 || kernel_is_done(set));
}

/* The queue exists, so the device's progress in it need not be checked. */
static bool is_awaited(const struct counter_set *set, const struct leaving *leaving)
{
	uint32_t work = __atomic_load_n(&set->work, __ATOMIC_ACQUIRE);

	return set_use(set) <= leaving->last &&
	       __atomic_load_n(&set->state, __ATOMIC_ACQUIRE) == SET_TAKEN &&
	       (work == WORK_READING || (work == WORK_DEVICE && kernel_is_done(set)));
}

static void set_check(struct counter_set *set, void *data)
{
	struct leaving *leaving = data;

	leaving->awaited += leaving->queue ? is_awaited_in(set, leaving) : is_awaited(set, leaving);
}

/* Seq_cst: pairs with leaving_is_empty(). */
static void sets_each(void (*visit)(struct counter_set *set, void *data), void *data)
{
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	counting_sets_each(visit, data);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_RELEASE);
}

bool leaving_is_empty(void)
{
	struct patience patience = { 0, 0 };

	while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		if (!patience_pause(&patience, GLANCE_NS, EMPTY_NS))
			return false;
	return true;
}

void leaving_forget_parent(void)
{
	__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
}

static struct leaving leaving_of(const struct hsa_queue *queue, uint64_t last)
{
	return (struct leaving){ queue, queue ? hsa_calls.load_read(queue) : 0, last, 0 };
}

static bool is_any_awaited(const struct hsa_queue *queue, uint64_t last)
{
	struct leaving leaving = leaving_of(queue, last);

	sets_each(set_check, &leaving);
	return leaving.awaited;
}

static void devices_await(const struct hsa_queue *queue, uint64_t most_ns)
{
	uint64_t limit = MIN(__atomic_load_n(&limit_ns, __ATOMIC_RELAXED), most_ns);
	uint64_t last = sets_last_use();
	struct patience patience = { 0, 0 };

	while (is_any_awaited(queue, last)) {
		if (patience_pause(&patience, GLANCE_NS, limit))
			continue;
		__atomic_store_n(&limit_ns, MAX(limit / SHRINK, LIMIT_MIN_NS), __ATOMIC_RELAXED);
		return;
	}
}

static void set_concern(struct counter_set *set, void *data)
{
	struct leaving *leaving = data;

	leaving->awaited += set_is_in(set, leaving->queue->doorbell) &&
			    __atomic_load_n(&set->state, __ATOMIC_ACQUIRE) == SET_TAKEN;
}

bool leaving_concerns(const struct hsa_queue *queue)
{
	struct leaving leaving = { .queue = queue };

	counting_sets_each(set_concern, &leaving);
	return leaving.awaited;
}

/* Rings for limpet's packets: the application's doorbell writes may have bypassed the hook. */
static void set_ring_for(struct counter_set *set, void *data)
{
	const struct leaving *leaving = data;
	uint64_t index = __atomic_load_n(&set->key->index, __ATOMIC_RELAXED);

	if (is_awaited_in(set, leaving))
		hsa_calls.signal_store(leaving->queue->doorbell,
				       (int64_t)(index + SLOTS_EXTRA - 1));
}

static void set_settle(struct counter_set *set, void *data)
{
	set_leave_queue(set, data);
}

void leaving_queue(const struct hsa_queue *queue, const struct known_queue *known)
{
	struct leaving leaving;

	/* Returns early if nothing is counted: the runtime may lack the functions below. */
	if (!leaving_concerns(queue))
		return;
	leaving = leaving_of(queue, sets_last_use());
	sets_each(set_ring_for, &leaving);
	devices_await(queue, LIMIT_NS);
	if (known)
		counting_sets_each(set_settle, (void *)(uintptr_t)known);
}

static void set_lose_of(struct counter_set *set, void *data)
{
	const struct queue_gone *gone = data;

	set_lose(set, gone->doorbell, gone->last);
}

void leaving_queue_is_gone(const struct queue_gone *gone)
{
	sets_each(set_lose_of, (void *)(uintptr_t)gone);
}

/* The runtime's thread must not wait for its own handler. */
static void readers_await(uint64_t most_ns)
{
	if (!sets_are_read_here())
		devices_await(NULL, most_ns);
}

void leaving_all(void)
{
	readers_await(LIMIT_NS);
}

static void set_abandon_it(struct counter_set *set, void *data)
{
	(void)data;
	set_abandon(set);
}

void leaving_give_up(void)
{
	counting_sets_each(set_abandon_it, NULL);
}

/* Sets of a queue that was destroyed just now may have been read, but not written. */
void leaving_program(void)
{
	readers_await(LAST_NS);
	leaving_give_up();
}

/*
 * On threads of the program's, while they use the queue: so it is there.  No lock: an entry is
 * claimed by its doorbell, and used once it is filled in.
 */
#include "target/sdk/counters/dispatch/queues.h"

#include "target/runtime/patience.h"
#include "target/sdk/counters/dispatch/sets.h"

#define QUEUES_MAX 512u
#define WINDOW     16u
#define GLANCE_NS  50000u
#define LIMIT_NS   50000000ull

static struct counted_queue queues[QUEUES_MAX];

static struct counted_queue *queue_first(uint64_t doorbell)
{
	return &queues[(uint32_t)(doorbell * 0x9e3779b97f4a7c15u >> 40) % (QUEUES_MAX - WINDOW)];
}

static struct counted_queue *queue_find(uint64_t doorbell)
{
	struct counted_queue *first = queue_first(doorbell);

	for (struct counted_queue *at = first; doorbell && at < first + WINDOW; at++)
		if (__atomic_load_n(&at->doorbell, __ATOMIC_ACQUIRE) == doorbell)
			return at;
	return NULL;
}

struct counted_queue *counted_queue_of(uint64_t doorbell)
{
	struct counted_queue *found = queue_find(doorbell);

	return found && __atomic_load_n(&found->is_known, __ATOMIC_ACQUIRE) ? found : NULL;
}

static struct counted_queue *queue_claim(uint64_t doorbell)
{
	struct counted_queue *first = queue_first(doorbell);

	for (struct counted_queue *at = first; at < first + WINDOW; at++) {
		uint64_t nobody = 0;

		if (__atomic_compare_exchange_n(&at->doorbell, &nobody, doorbell, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return at;
	}
	return NULL;
}

/* What was in it is no more. */
static void queue_clear(struct counted_queue *entry)
{
	if (__atomic_exchange_n(&entry->plain, 0, __ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&entry->device->plain_open, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->is_known, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&entry->life, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->doorbell, 0, __ATOMIC_SEQ_CST);
}

static bool queue_is_same(const struct counted_queue *entry, const struct hsa_queue *queue)
{
	return entry->ring.queue == queue && entry->ring.base == queue->base &&
	       entry->ring.size == queue->size;
}

static void queue_fill(struct counted_queue *entry, const struct hsa_queue *queue)
{
	entry->ring = (struct hsa_ring){ queue, queue->base, queue->size, queue->doorbell, 0 };
	entry->id = queue->id;
	entry->device = NULL;
	entry->plain = 0;
}

static bool queue_is_sound(const struct hsa_queue *queue)
{
	return queue && queue->doorbell && queue->base && queue->size &&
	       !(queue->size & (queue->size - 1));
}

/* Another thread may be filling it in just now.  False: for too long. */
static bool queue_await(const struct counted_queue *entry)
{
	struct patience patience = { 0, 0 };

	while (!__atomic_load_n(&entry->is_known, __ATOMIC_ACQUIRE))
		if (!patience_pause(&patience, GLANCE_NS, LIMIT_NS))
			return false;
	return true;
}

static struct counted_queue *queue_add(const struct hsa_queue *queue, describe_queue *describe)
{
	struct counted_queue *entry = queue_claim(queue->doorbell), *found;

	if (!entry)
		return NULL;
	/* Of two threads that claim it at once the first entry counts. */
	found = queue_find(queue->doorbell);
	if (found != entry) {
		queue_clear(entry);
		return found && queue_await(found) ? found : NULL;
	}
	queue_fill(entry, queue);
	describe(entry);
	/* Release: pairs with counted_queue_of(). */
	__atomic_store_n(&entry->is_known, 1, __ATOMIC_RELEASE);
	return entry;
}

struct counted_queue *counted_queue_learn(const struct hsa_queue *queue, describe_queue *describe)
{
	struct counted_queue *entry = queue_is_sound(queue) ? queue_find(queue->doorbell) : NULL;

	if (entry && (!queue_await(entry) || queue_is_same(entry, queue)))
		return counted_queue_of(queue->doorbell);
	/* Its end was not seen. */
	if (entry)
		queue_clear(entry);
	return queue_is_sound(queue) ? queue_add(queue, describe) : NULL;
}

bool counted_queues_have_plain(const struct counted_device *device,
			       const struct counted_queue *except)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		if (&queues[i] != except && __atomic_load_n(&queues[i].plain, __ATOMIC_SEQ_CST) &&
		    __atomic_load_n(&queues[i].device, __ATOMIC_RELAXED) == device)
			return true;
	return false;
}

void counted_queue_forget(uint64_t doorbell)
{
	struct counted_queue *entry;

	while ((entry = queue_find(doorbell)))
		queue_clear(entry);
}

void counted_queues_clear(void)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		queue_clear(&queues[i]);
}

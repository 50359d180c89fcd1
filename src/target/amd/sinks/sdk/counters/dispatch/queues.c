/*
 * Runs on application threads inside calls that use the queue, so the queue exists. No lock: an
 * entry is claimed by its doorbell, and used once it is filled in.
 */
#include "target/amd/sinks/sdk/counters/dispatch/queues.h"

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/tables/keyed.h"
#include "target/runtime/patience.h"

#define QUEUES_MAX 512u
#define WINDOW     16u
#define GLANCE_NS  50000u
#define LIMIT_NS   2000000000ull /* a container's thread may be frozen */

static struct counted_queue queues[QUEUES_MAX];
static const struct keyed_table table = { queues, sizeof(queues[0]), QUEUES_MAX, WINDOW };
static uint64_t lives;
static uint32_t leaving; /* queues being destroyed with uncounted packets */

struct counted_queue *counted_queue_of(uint64_t doorbell)
{
	struct counted_queue *found = keyed_find(&table, doorbell);

	return found && __atomic_load_n(&found->is_known, __ATOMIC_ACQUIRE) ? found : NULL;
}

/* The queue's packets do not run any more. */
static void queue_clear(struct counted_queue *entry)
{
	if (__atomic_exchange_n(&entry->plain, 0, __ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&entry->device->plain_open, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->is_known, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->was_awaited, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->life, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->doorbell, 0, __ATOMIC_SEQ_CST);
}

/* Compares rings, not handles: a queue that HSA lends has one ring, and a handle per borrower. */
static bool queue_is_same(const struct counted_queue *entry, const struct hsa_queue *queue)
{
	return entry->ring.base == queue->base && entry->ring.size == queue->size;
}

static void queue_fill(struct counted_queue *entry, const struct hsa_queue *queue)
{
	entry->ring = (struct hsa_ring){ NULL, queue->base, queue->size, queue->doorbell, 0 };
	entry->id = queue->id;
	entry->device = NULL;
	entry->is_stranger = 0;
	entry->plain = entry->taken = 0;
	__atomic_store_n(&entry->life, __atomic_add_fetch(&lives, 1, __ATOMIC_RELAXED),
			 __ATOMIC_SEQ_CST);
}

static bool queue_is_sound(const struct hsa_queue *queue)
{
	return queue && queue->doorbell && queue->base && queue->size &&
	       !(queue->size & (queue->size - 1));
}

/* Waits for a thread that is filling the entry in. False: it took too long. */
static bool queue_await(struct counted_queue *entry)
{
	struct patience patience = { 0, 0 };

	while (!__atomic_load_n(&entry->is_known, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&entry->was_awaited, __ATOMIC_RELAXED))
			return false;
		if (!patience_pause(&patience, GLANCE_NS, LIMIT_NS))
			__atomic_store_n(&entry->was_awaited, 1, __ATOMIC_RELAXED);
	}
	return true;
}

static struct counted_queue *queue_add(const struct hsa_queue *queue, describe_queue *describe)
{
	struct counted_queue *entry = keyed_claim(&table, queue->doorbell, queue->doorbell), *found;

	if (!entry)
		return NULL;
	/* If two threads claim entries at once, the first entry counts. */
	found = keyed_find(&table, queue->doorbell);
	if (found != entry) {
		queue_clear(entry);
		return found && queue_await(found) ? found : NULL;
	}
	queue_fill(entry, queue);
	describe(entry, queue);
	/* Release: pairs with counted_queue_of(). */
	__atomic_store_n(&entry->is_known, 1, __ATOMIC_RELEASE);
	return entry;
}

struct counted_queue *counted_queue_learn(const struct hsa_queue *queue, describe_queue *describe,
					  uint64_t *lost)
{
	struct counted_queue *entry =
		queue_is_sound(queue) ? keyed_find(&table, queue->doorbell) : NULL;

	*lost = 0;
	if (entry && (!queue_await(entry) || queue_is_same(entry, queue)))
		return counted_queue_of(queue->doorbell);
	/* The destruction of the entry's queue was not seen. */
	if (entry)
		*lost = counted_queue_forget(queue->doorbell);
	return queue_is_sound(queue) ? queue_add(queue, describe) : NULL;
}

void counted_queue_note_taken(struct counted_queue *queue, uint64_t last)
{
	uint64_t before = __atomic_load_n(&queue->taken, __ATOMIC_SEQ_CST);

	while ((int64_t)(last + 1 - before) > 0 &&
	       !__atomic_compare_exchange_n(&queue->taken, &before, last + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

bool counted_queue_has(const struct counted_queue *queue, uint64_t index)
{
	uint64_t taken = __atomic_load_n(&queue->taken, __ATOMIC_SEQ_CST);

	return taken - index - 1 < queue->ring.size;
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

bool counted_queue_leave(uint64_t doorbell)
{
	const struct counted_queue *entry = counted_queue_of(doorbell);

	if (!entry || !__atomic_load_n(&entry->plain, __ATOMIC_SEQ_CST))
		return false;
	__atomic_fetch_add(&leaving, 1, __ATOMIC_SEQ_CST);
	return true;
}

bool counted_queues_are_leaving(void)
{
	return __atomic_load_n(&leaving, __ATOMIC_SEQ_CST);
}

/* Never below 0: the count may have been cleared meanwhile. */
void counted_queue_end(void)
{
	uint32_t before = __atomic_load_n(&leaving, __ATOMIC_SEQ_CST);

	while (before && !__atomic_compare_exchange_n(&leaving, &before, before - 1, false,
						      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

uint64_t counted_queue_forget(uint64_t doorbell)
{
	struct counted_queue *entry;
	uint64_t life = 0;

	while ((entry = keyed_find(&table, doorbell))) {
		life = __atomic_load_n(&entry->life, __ATOMIC_SEQ_CST);
		queue_clear(entry);
	}
	return life;
}

void counted_queues_clear(void)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		queue_clear(&queues[i]);
	__atomic_store_n(&leaving, 0, __ATOMIC_SEQ_CST);
}

/*
 * Runs on application threads that use the queue, which therefore exists. No lock: storing the
 * doorbell claims a slot, which is used after it is filled.
 */
#include "target/amd/hsa/queues.h"

#include "shared/arch/syscall.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/tables/keyed.h"

#include <sys/mman.h>

#define QUEUES_MAX 512u
#define WINDOW     16u

static struct known_queue queues[QUEUES_MAX];
static const struct keyed_table table = { queues, sizeof(queues[0]), QUEUES_MAX, WINDOW };

/* A slot keeps its memory: another thread may still be reading it. */
static bool make_room(struct known_queue *slot)
{
	long r;

	if (slot->looked && slot->room >= slot->size) {
		raw3(SYS_madvise, slot->looked, slot->room * sizeof(uint64_t), MADV_DONTNEED);
		return true;
	}
	r = raw6(SYS_mmap, 0, slot->size * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	slot->room = slot->size;
	__atomic_store_n(&slot->looked, (uint64_t *)r, __ATOMIC_RELEASE);
	return true;
}

static void queue_fill(struct known_queue *slot, const struct hsa_queue *queue, uint64_t next,
		       uint64_t agent)
{
	slot->base = queue->base;
	slot->size = queue->size;
	slot->low = next;
	slot->counted_last = slot->plain_last = 0;
	slot->has_plain = slot->plain_turn = 0;
	slot->agent = agent ? agent : agent_of_queue(queue);
	slot->number = queue->id + 1;
	/* Stays on: the application's own setting is unknown, and it costs next to nothing. */
	(void)hsa_calls.profile_queue(queue, 1);
	/* Release: pairs with hsa_queue_of(). */
	if (make_room(slot))
		__atomic_store_n(&slot->is_known, 1, __ATOMIC_RELEASE);
}

bool hsa_queue_learn(const struct hsa_queue *queue, uint64_t next, uint64_t agent)
{
	struct known_queue *slot;

	if (!queue || !queue->doorbell || !queue->base || !queue->size ||
	    queue->size & (queue->size - 1) || keyed_find(&table, queue->doorbell))
		return false;
	(void)agents_ask(); /* before: packets of a queue that is being learned are not seen */
	slot = keyed_claim(&table, queue->doorbell, queue->doorbell);
	if (slot)
		queue_fill(slot, queue, next, agent);
	return slot;
}

static void queue_clear(struct known_queue *slot)
{
	__atomic_store_n(&slot->is_known, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->doorbell, 0, __ATOMIC_RELEASE);
}

void hsa_queue_forget(const struct hsa_queue *queue)
{
	struct known_queue *slot = queue ? keyed_find(&table, queue->doorbell) : NULL;

	if (slot)
		queue_clear(slot);
}

void hsa_queues_clear(void)
{
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		queue_clear(&queues[i]);
}

struct known_queue *hsa_queue_of(uint64_t doorbell)
{
	struct known_queue *slot = keyed_find(&table, doorbell);

	return slot && __atomic_load_n(&slot->is_known, __ATOMIC_ACQUIRE) ? slot : NULL;
}

static struct hsa_packet *packet_at(const struct known_queue *queue, uint64_t index)
{
	return (struct hsa_packet *)queue->base + (index & (queue->size - 1));
}

static uint64_t *looked_at(const struct known_queue *queue, uint64_t index)
{
	return &queue->looked[index & (queue->size - 1)];
}

static bool is_filled_in(const struct known_queue *queue, uint64_t index)
{
	uint16_t header = __atomic_load_n(&packet_at(queue, index)->header, __ATOMIC_ACQUIRE);

	return (header & PACKET_TYPE) != PACKET_INVALID;
}

static bool queue_claim_packet(const struct known_queue *queue, uint64_t index, bool is_last)
{
	uint64_t *slot = looked_at(queue, index);
	uint64_t there = __atomic_load_n(slot, __ATOMIC_RELAXED);

	/* The slot may contain a later packet by now. */
	return (int64_t)(index + 1 - there) > 0 && (is_last || is_filled_in(queue, index)) &&
	       __atomic_compare_exchange_n(slot, &there, index + 1, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static void raise_low(struct known_queue *queue, uint64_t last)
{
	uint64_t there = __atomic_load_n(&queue->low, __ATOMIC_RELAXED), low = there;

	if ((int64_t)(last - low) >= (int64_t)queue->size)
		low = last + 1 - queue->size;
	while ((int64_t)(last - low) >= 0 &&
	       __atomic_load_n(looked_at(queue, low), __ATOMIC_RELAXED) == low + 1)
		low++;
	while ((int64_t)(low - there) > 0 &&
	       !__atomic_compare_exchange_n(&queue->low, &there, low, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

bool hsa_queue_next(struct known_queue *queue, uint64_t *index, uint64_t last)
{
	uint64_t low = __atomic_load_n(&queue->low, __ATOMIC_RELAXED);

	if ((int64_t)(low - *index) > 0)
		*index = (int64_t)(low - last) > 0 ? last : low;
	for (; (int64_t)(last - *index) >= 0; ++*index)
		if (queue_claim_packet(queue, *index, *index == last))
			return true;
	raise_low(queue, last);
	return false;
}

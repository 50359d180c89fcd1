/*
 * Maps correlation numbers to application calls. The calling thread writes an entry when the call
 * begins; CUPTI's records look the entry up some milliseconds later. A slot is reused by the next
 * number with the same index, a million calls later. No locks: the number is cleared before a slot
 * is written and stored last, so a reader detects a slot that is being written.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/mapping.h"

#include <errno.h>

#define SLOTS (1u << 20)

struct slot {
	uint32_t correlation; /* 0: none */
	int32_t thread;
	uint64_t begin;
	uint64_t is_graph;
};

static struct slot *slots; /* never unmapped: a callback may still be running */

int causes_open(void)
{
	struct slot *made = slots ? slots : memory_map(SLOTS * sizeof(*made), MAP_NORESERVE);

	/* Release: pairs with the acquire in slot_of(); publishes mapped memory. */
	__atomic_store_n(&slots, made, __ATOMIC_RELEASE);
	return made ? 0 : -ENOMEM;
}

/* Frees the pages; the mapping stays. */
void causes_close(void)
{
	if (slots)
		raw3(SYS_madvise, slots, SLOTS * sizeof(*slots), MADV_DONTNEED);
}

static struct slot *slot_of(uint32_t correlation)
{
	struct slot *all = __atomic_load_n(&slots, __ATOMIC_ACQUIRE);

	return all && correlation ? &all[correlation % SLOTS] : NULL;
}

void cause_note(uint32_t correlation, const struct cuda_cause *cause)
{
	struct slot *slot = slot_of(correlation);

	if (!slot)
		return;
	__atomic_store_n(&slot->correlation, 0, __ATOMIC_RELAXED);
	/* Orders clearing the number before the other stores. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&slot->thread, cause->thread, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->begin, cause->begin, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->is_graph, cause->is_graph, __ATOMIC_RELAXED);
	/* Release: pairs with cause_find(). */
	__atomic_store_n(&slot->correlation, correlation, __ATOMIC_RELEASE);
}

bool cause_find(uint32_t correlation, struct cuda_cause *ret)
{
	const struct slot *slot = slot_of(correlation);

	/* Acquire: pairs with cause_note(). */
	if (!slot || __atomic_load_n(&slot->correlation, __ATOMIC_ACQUIRE) != correlation)
		return false;
	ret->thread = __atomic_load_n(&slot->thread, __ATOMIC_RELAXED);
	ret->begin = __atomic_load_n(&slot->begin, __ATOMIC_RELAXED);
	ret->is_graph = __atomic_load_n(&slot->is_graph, __ATOMIC_RELAXED) != 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->correlation, __ATOMIC_RELAXED) == correlation;
}

/*
 * Runs on the program's threads, inside their calls: one atomic operation for a record.
 */
#include "target/sdk/buffers/buffer.h"

#include "shared/arch/ticks.h"
#include "target/runtime/kernel_clock.h"
#include "target/sdk/contexts.h"
#include "target/sdk/delivery.h"

#define SPINS_MAX 1000u

/* The place for a record in the half that is written to; NULL: no room, or it is gone. */
static void *slot_reserve(struct sdk_buffer *buffer, uint64_t life, uint64_t size)
{
	enum half_answer answer = HALF_LOST;
	void *place = NULL;

	for (unsigned spins = 0; spins < SPINS_MAX && answer >= HALF_SEALED; spins++) {
		uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_ACQUIRE) & 1;

		answer = half_take(&buffer->halves[which], life, size, buffer->size, &place);
		if (answer == HALF_SEALED)
			spin_pause();
	}
	return place;
}

/* Who delivers cannot wait for itself. */
static void *reserve_patiently(struct sdk_buffer *buffer, struct sdk_handle id, uint64_t size)
{
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS;
	void *place = NULL;

	while (!place && !delivery_is_me(buffer->thread) && delivery_has(buffer->thread) &&
	       buffer_find(id) && monotonic_ns() < end_ns) {
		uint32_t before = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST);

		buffer_ask(buffer);
		place = slot_reserve(buffer, buffer_life(id), size);
		if (place)
			return place;
		buffer_await(buffer, before, end_ns);
		place = slot_reserve(buffer, buffer_life(id), size);
	}
	return place;
}

/* Not at once: others write, or it is full.  What is written to a buffer that is gone is nobody's
 * loss. */
static __attribute__((noinline)) void *reserve_otherwise(struct sdk_buffer *buffer,
							 struct sdk_handle id, uint64_t size)
{
	void *place = slot_reserve(buffer, buffer_life(id), size);

	if (place || !buffer_find(id))
		return place;
	if (size <= buffer->size) {
		buffer_ask(buffer);
		if (buffer->policy == POLICY_LOSSLESS)
			place = reserve_patiently(buffer, id, size);
	}
	if (!place)
		buffer_drop(buffer, 1);
	return place;
}

static struct record_place record_reserve(struct sdk_handle id, size_t size)
{
	struct sdk_buffer *buffer = buffer_entry(id);
	uint64_t room = ALIGN_UP(size, 8);
	uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_ACQUIRE) & 1;
	void *place;

	if (half_take(&buffer->halves[which], buffer_life(id), room, buffer->size, &place) !=
	    HALF_TAKEN)
		place = reserve_otherwise(buffer, id, room);
	return (struct record_place){ buffer, place };
}

struct record_place buffer_reserve(unsigned context, int kind, size_t size)
{
	return record_reserve(sdk_contexts[context].buffers[kind].buffer, size);
}

void buffer_commit(struct record_place place, size_t size)
{
	struct sdk_buffer *buffer = place.buffer;
	const struct half *half =
		&buffer->halves[__atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1];

	/* Release: who sees it whole sees its bytes. */
	__atomic_store_n((uint64_t *)place.record, size, __ATOMIC_RELEASE);
	if ((__atomic_load_n(&half->cursor, __ATOMIC_RELAXED) & USED_MASK) >= buffer->watermark &&
	    !__atomic_load_n(&buffer->is_wanted, __ATOMIC_RELAXED))
		buffer_ask(buffer);
}

/* Records are made of words; libc's memcpy is not at hand here. */
void buffer_write(unsigned context, int kind, const void *record, size_t size)
{
	struct record_place place = buffer_reserve(context, kind, size);
	const uint64_t *from = record;
	uint64_t *to = place.record;

	if (!to)
		return;
	for (size_t i = 1; i < ALIGN_UP(size, 8) / sizeof(*to); i++)
		to[i] = from[i];
	buffer_commit(place, size);
}

void buffer_write_counter(struct sdk_handle id, int kind, const void *record, size_t size)
{
	struct record_place place = record_reserve(id, sizeof(struct record_base) + size);
	struct record_base *base = place.record;
	const uint64_t *from = record;
	uint64_t *to = (uint64_t *)(base + 1);

	if (!base)
		return;
	base->kind = kind | KIND_COUNTER;
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] = from[i];
	buffer_commit(place, sizeof(*base) + size);
}

/*
 * Runs on application threads, inside their calls.
 */
#include "target/amd/sinks/sdk/buffers/writing.h"

#include "shared/arch/ticks.h"
#include "target/amd/sinks/sdk/base/delivery.h"
#include "target/runtime/kernel_clock.h"

#define SPINS_MAX 1000u

/* Reserves in the active half. False: the half is full, or the buffer is gone. */
static bool slot_allocate(struct record_place *place, uint64_t life, uint64_t size)
{
	struct sdk_buffer *buffer = place->buffer;
	enum half_answer answer = HALF_LOST;
	uint64_t used = 0;

	for (unsigned spins = 0; spins < SPINS_MAX && answer >= HALF_SEALED; spins++) {
		uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_ACQUIRE) & 1;

		answer = half_reserve(&buffer->halves[which], life, size, buffer->size,
				      &place->record, &used);
		if (answer == HALF_SEALED)
			spin_pause();
	}
	place->is_due = used >= buffer->watermark;
	return place->record;
}

/* Waits for room in a lossless buffer; the delivery thread cannot, as it makes the room. */
static void reserve_patiently(struct record_place *place, struct sdk_handle id, uint64_t size)
{
	struct sdk_buffer *buffer = place->buffer;
	uint64_t end_ns = monotonic_ns() + PATIENCE_NS;

	while (!delivery_is_me(buffer->thread) && delivery_has(buffer->thread) && buffer_find(id) &&
	       monotonic_ns() < end_ns) {
		uint32_t before = __atomic_load_n(&buffer->deliveries, __ATOMIC_SEQ_CST);

		buffer_ask(buffer);
		if (slot_allocate(place, buffer_life(id), size))
			return;
		buffer_await(buffer, before, end_ns);
		if (slot_allocate(place, buffer_life(id), size))
			return;
	}
}

/* A record for a destroyed buffer is not counted as a drop. */
struct record_place buffer_reserve_otherwise(struct sdk_handle id, uint64_t size)
{
	struct sdk_buffer *buffer = buffer_entry(id);
	struct record_place place = { buffer, NULL, false };

	if (slot_allocate(&place, buffer_life(id), size) || !buffer_find(id))
		return place;
	if (size <= buffer->size) {
		buffer_ask(buffer);
		if (buffer->policy == POLICY_LOSSLESS)
			reserve_patiently(&place, id, size);
	}
	if (!place.record)
		buffer_drop(buffer, 1);
	return place;
}

/* Copies in 64-bit words: libc's memcpy is not available here. */
void buffer_write(unsigned context, int kind, const void *record, size_t size)
{
	struct record_place place = context_reserve(context, kind, size);
	const uint64_t *from = record;
	uint64_t *to = place.record;

	if (!to)
		return;
	for (size_t i = 1; i < ALIGN_UP(size, 8) / sizeof(*to); i++)
		to[i] = from[i];
	buffer_commit(place, size);
}

bool buffer_write_counter(struct sdk_handle id, int kind, const void *record, size_t size)
{
	struct record_place place = buffer_reserve(id, sizeof(struct record_base) + size);
	struct record_base *base = place.record;
	const uint64_t *from = record;
	uint64_t *to;

	if (!base)
		return false;
	to = (uint64_t *)(base + 1);
	base->kind = kind | KIND_COUNTER;
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] = from[i];
	buffer_commit(place, sizeof(*base) + size);
	return true;
}

/*
 * buffer_write() in two steps, for callers that fill in the record in the buffer: everything but
 * its first word, the size, which marks the record complete. Inside application calls: one atomic
 * operation per record.
 */
#pragma once

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/buffers/buffer.h"

struct record_place {
	struct sdk_buffer *buffer;
	void *record; /* NULL: no slot was reserved; the drop is counted */
	bool is_due;  /* the buffer has reached the tool's watermark */
};

/* The slow path: another writer won, or the half is full or sealed. */
struct record_place buffer_reserve_otherwise(struct sdk_handle id, uint64_t size);

static inline struct record_place buffer_reserve(struct sdk_handle id, size_t size)
{
	struct sdk_buffer *buffer = buffer_entry(id);
	uint64_t room = ALIGN_UP(size, 8), used;
	void *record;
	/* Relaxed: only an address; half_reserve() checks whether this half may be written to. */
	uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1;

	/* The address of the place is never passed on, so that the place stays in registers. */
	if (half_reserve(&buffer->halves[which], buffer_life(id), room, buffer->size, &record,
			 &used) != HALF_TAKEN)
		return buffer_reserve_otherwise(id, room);
	return (struct record_place){ buffer, record, used >= buffer->watermark };
}

/* Reserves in the buffer that a context (its index) has for that kind. */
static inline struct record_place context_reserve(unsigned context, int kind, size_t size)
{
	return buffer_reserve(sdk_contexts[context].buffers[kind].buffer, size);
}

static inline void buffer_commit(struct record_place place, size_t size)
{
	/* Release: pairs with the acquire in await_whole(); publishes the record's bytes. */
	__atomic_store_n((uint64_t *)place.record, size, __ATOMIC_RELEASE);
	if (place.is_due && !__atomic_load_n(&place.buffer->is_wanted, __ATOMIC_RELAXED))
		buffer_ask(place.buffer);
}

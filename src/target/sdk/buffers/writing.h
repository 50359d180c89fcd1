/*
 * buffer_write() in two steps, for who fills in the record where it will be: all but its first
 * word, the size, which says that it is whole.  Inside the program's calls: one atomic operation
 * for a record.
 */
#pragma once

#include "target/sdk/buffers/buffer.h"
#include "target/sdk/contexts.h"

struct record_place {
	struct sdk_buffer *buffer;
	void *record; /* NULL: there is none, which was counted */
	bool is_due;  /* with it the buffer is as full as its tool wants it delivered */
};

/* Not at once: others write, or it is full. */
struct record_place buffer_reserve_otherwise(struct sdk_handle id, uint64_t size);

static inline struct record_place buffer_reserve(struct sdk_handle id, size_t size)
{
	struct sdk_buffer *buffer = buffer_entry(id);
	uint64_t room = ALIGN_UP(size, 8), used;
	void *record;
	/* Relaxed: it is but an address, and the half says itself whether it may be written to. */
	uint32_t which = __atomic_load_n(&buffer->active, __ATOMIC_RELAXED) & 1;

	/* Nobody is given the place's address, so that it stays in registers. */
	if (half_take(&buffer->halves[which], buffer_life(id), room, buffer->size, &record,
		      &used) != HALF_TAKEN)
		return buffer_reserve_otherwise(id, room);
	return (struct record_place){ buffer, record, used >= buffer->watermark };
}

/* In the buffer that a context (its index) has for that kind. */
static inline struct record_place context_reserve(unsigned context, int kind, size_t size)
{
	return buffer_reserve(sdk_contexts[context].buffers[kind].buffer, size);
}

static inline void buffer_commit(struct record_place place, size_t size)
{
	/* Release: who sees it whole sees its bytes. */
	__atomic_store_n((uint64_t *)place.record, size, __ATOMIC_RELEASE);
	if (place.is_due && !__atomic_load_n(&place.buffer->is_wanted, __ATOMIC_RELAXED))
		buffer_ask(place.buffer);
}

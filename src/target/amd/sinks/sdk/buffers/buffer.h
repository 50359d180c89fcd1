/*
 * The table of buffers, which the files of this folder share. Calls write into one half of a buffer
 * while the other half is delivered.
 */
#pragma once

#include "target/amd/sinks/sdk/buffers/buffers.h"
#include "target/amd/sinks/sdk/buffers/half.h"

#define BUFFERS_MAX   64u
#define PATIENCE_NS   2000000000ull /* for room in a lossless buffer */
#define SIZE_MAX_EACH (1ull << 32)

_Static_assert(SIZE_MAX_EACH <= USED_MASK, "all bytes are counted");

/* The first fields of every record. */
struct record_base {
	uint64_t size;
	int32_t kind;
	uint32_t unused;
};

/* A bit in `kind`: a counter record, whose tool-visible part begins after the base. */
#define KIND_COUNTER 0x10000

enum buffer_state { BUFFER_FREE, BUFFER_MAKING, BUFFER_LIVE, BUFFER_DYING };

struct sdk_buffer {
	struct half halves[2];
	uint32_t state; /* enum buffer_state */
	int32_t tool;
	uint32_t thread;     /* index of a thread in delivery.c */
	uint32_t active;     /* index of the half that writers use */
	uint32_t is_wanted;  /* delivery was requested */
	uint32_t is_busy;    /* being delivered or destroyed */
	uint32_t deliveries; /* how many deliveries have ended; a futex */
	uint32_t waiters;
	uint64_t handle; /* changes each time the entry is reused */
	uint64_t size, watermark, policy, drops;
	uint64_t context;
	buffer_function *callback;
	void *data;
	/* Passed to the tool's callback: room for the headers of one half. */
	struct record_header **headers, *header_values;
};
extern struct sdk_buffer sdk_buffers[BUFFERS_MAX];

static inline struct sdk_buffer *buffer_entry(struct sdk_handle id)
{
	return &sdk_buffers[id.handle % BUFFERS_MAX];
}

static inline uint64_t buffer_life(struct sdk_handle id)
{
	return id.handle / BUFFERS_MAX & LIFE_MASK;
}

/* NULL: no live buffer has this handle. */
struct sdk_buffer *buffer_find(struct sdk_handle id);
void buffer_drop(struct sdk_buffer *buffer, uint64_t count);

/* Requests a delivery from the buffer's thread. */
void buffer_ask(struct sdk_buffer *buffer);
/* Waits until one more delivery than `before` has ended. */
void buffer_await(struct sdk_buffer *buffer, uint32_t before, uint64_t end_ns);
bool buffer_is_empty(const struct sdk_buffer *buffer);
/* True when every record that was in the buffer at the call has been delivered. */
bool buffer_flush(struct sdk_buffer *buffer, uint64_t limit_ns);

/* Owns the buffer, for delivering or destroying it: one thread at a time. */
bool buffer_acquire(struct sdk_buffer *buffer);
void buffer_release(struct sdk_buffer *buffer);

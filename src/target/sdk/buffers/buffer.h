/*
 * What the files of this folder share: the table of buffers.  Calls write into one half of a buffer
 * while the other is delivered.
 */
#pragma once

#include "target/sdk/buffers/buffers.h"
#include "target/sdk/buffers/half.h"

#define BUFFERS_MAX   64u
#define PATIENCE_NS   2000000000ull /* for room */
#define SIZE_MAX_EACH (1ull << 32)

_Static_assert(SIZE_MAX_EACH <= USED_MASK, "all bytes are counted");

/* How every record begins. */
struct record_base {
	uint64_t size;
	int32_t kind;
	uint32_t unused;
};

/* In its kind: one of a counter, which begins behind. */
#define KIND_COUNTER 0x10000

enum buffer_state { BUFFER_FREE, BUFFER_MAKING, BUFFER_LIVE, BUFFER_DYING };

struct sdk_buffer {
	struct half halves[2];
	uint32_t state; /* enum buffer_state */
	int32_t tool;
	uint32_t thread;     /* of delivery.h */
	uint32_t active;     /* which half */
	uint32_t is_wanted;  /* somebody wants it delivered */
	uint32_t is_busy;    /* it is being delivered, or destroyed */
	uint32_t deliveries; /* how often it was; a futex */
	uint32_t waiters;
	uint64_t handle; /* another one each time that the entry is used */
	uint64_t size, watermark, policy, drops;
	uint64_t context;
	buffer_function *callback;
	void *data;
	/* What the tool is given: room for the records of one half. */
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

/* NULL: there is none. */
struct sdk_buffer *buffer_find(struct sdk_handle id);
void buffer_drop(struct sdk_buffer *buffer, uint64_t count);

/* Asks its thread to deliver it. */
void buffer_ask(struct sdk_buffer *buffer);
/* Waits until it was delivered once more than `before`. */
void buffer_await(struct sdk_buffer *buffer, uint32_t before, uint64_t end_ns);
bool buffer_is_empty(const struct sdk_buffer *buffer);
/* True when all that was in it at the beginning has been delivered. */
bool buffer_flush(struct sdk_buffer *buffer, uint64_t limit_ns);

/* For who delivers or destroys it: one at a time. */
bool buffer_take(struct sdk_buffer *buffer);
void buffer_give_back(struct sdk_buffer *buffer);

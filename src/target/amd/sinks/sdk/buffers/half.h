/*
 * Half of a buffer: records one behind the other. A writer reserves a slot with one
 * compare-and-exchange of the cursor and stores the record's size there, with the UNFINISHED mark.
 * It stores the size without the mark last. Memory that was never written is zero.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

#include <stdbool.h>

/* The cursor: bytes reserved; the round, how often the half was emptied; the life, which of the
 * buffers that have used the entry it is; and whether the half is sealed. Round and life have
 * enough bits that a writer delayed between load and exchange cannot reserve in a later buffer. */
#define USED_MASK   ((1ull << 33) - 1)
#define ROUND_SHIFT 33
#define ROUND_MASK  0x3fffull
#define LIFE_SHIFT  47
#define LIFE_MASK   0xffffull
#define SEALED      (1ull << 63)

#define RECORD_LEAST 32u
#define UNFINISHED   (1ull << 63) /* the mark */

struct half {
	uint64_t cursor;
	unsigned char *memory;
} __attribute__((aligned(64))); /* keeps each cursor off the cache lines that all writers read */

enum half_answer { HALF_TAKEN, HALF_FULL, HALF_SEALED, HALF_LOST /* try again */ };

/* Reserves `size` bytes in a half of `room` bytes, for a writer that knows the buffer's life;
 * *ret_used becomes the number of bytes reserved. */
static inline enum half_answer half_reserve(struct half *half, uint64_t life, uint64_t size,
					    uint64_t room, void **ret, uint64_t *ret_used)
{
	uint64_t cursor = __atomic_load_n(&half->cursor, __ATOMIC_ACQUIRE);
	uint64_t used = cursor & USED_MASK;
	/* Acquire: read before the exchange. New memory always comes with a new cursor, so a
	 * successful exchange proves that this memory belongs to the cursor. */
	unsigned char *memory = __atomic_load_n(&half->memory, __ATOMIC_ACQUIRE);

	if (cursor >> LIFE_SHIFT != life)
		return HALF_SEALED;
	if (used + size > room)
		return HALF_FULL;
	/* Acquire suffices: the writer has not stored anything that others must see. */
	if (!__atomic_compare_exchange_n(&half->cursor, &cursor, cursor + size, true,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return HALF_LOST;
	*ret = memory + used;
	*ret_used = used + size;
	__atomic_store_n((uint64_t *)*ret, size | UNFINISHED, __ATOMIC_RELAXED);
	return HALF_TAKEN;
}

/* Maps memory for `room` bytes of records; false when there is none. */
bool half_open(struct half *half, uint64_t life, uint64_t room);
void half_close(struct half *half, uint64_t room);

/* Ends reservations; returns how many bytes are reserved. */
uint64_t half_seal(struct half *half);

/* Calls `each` for every complete record in the first `used` bytes. Waits two seconds at most for
 * records that are being written: a signal handler may have jumped out of a writer. Returns how
 * many records were still incomplete. */
typedef void half_function(void *record, void *data);
uint64_t half_walk(const struct half *half, uint64_t used, half_function *each, void *data);

/* Opens the half for writers again. An abandoned half keeps its memory for a writer that may still
 * store there and gets new memory; if there is none, the half stays sealed. */
void half_clean(struct half *half, uint64_t used, uint64_t room, bool is_abandoned);

/*
 * Half of a buffer: records one behind the other.  A writer takes its place by one
 * compare-and-exchange of the cursor and notes its size there, with a mark; the first word without
 * the mark, the record's own size, is stored last.  Memory that nobody has written is zero.
 */
#pragma once

#include "target/sdk/abi.h"

#include <stdbool.h>

/* The cursor: bytes that are taken; how often the half was emptied; which of the buffers that its
 * entry was used for it belongs to; and whether nobody may take any more.  Of the two in the middle
 * so much that a writer who was held up for long takes no place in what is another's by now. */
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
} __attribute__((aligned(64))); /* writers do not share the line with what all of them read */

enum half_answer { HALF_TAKEN, HALF_FULL, HALF_SEALED, HALF_LOST /* somebody was faster */ };

/* Takes a place in a half of `room` bytes, for a writer who knows the buffer's life; tells how many
 * bytes are used then. */
static inline enum half_answer half_take(struct half *half, uint64_t life, uint64_t size,
					 uint64_t room, void **ret, uint64_t *ret_used)
{
	uint64_t cursor = __atomic_load_n(&half->cursor, __ATOMIC_ACQUIRE);
	uint64_t used = cursor & USED_MASK;
	/* Acquire: before the place is taken.  It is that of the cursor then, since another has
	 * another. */
	unsigned char *memory = __atomic_load_n(&half->memory, __ATOMIC_ACQUIRE);

	if (cursor >> LIFE_SHIFT != life)
		return HALF_SEALED;
	if (used + size > room)
		return HALF_FULL;
	/* Nothing was written yet that others would have to see. */
	if (!__atomic_compare_exchange_n(&half->cursor, &cursor, cursor + size, true,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return HALF_LOST;
	*ret = memory + used;
	*ret_used = used + size;
	__atomic_store_n((uint64_t *)*ret, size | UNFINISHED, __ATOMIC_RELAXED);
	return HALF_TAKEN;
}

/* Room for so many bytes of records; false when there is no memory. */
bool half_open(struct half *half, uint64_t life, uint64_t room);
void half_close(struct half *half, uint64_t room);

/* Nobody takes a place any more; returns how many bytes are taken. */
uint64_t half_seal(struct half *half);

/* Called for each whole record of the first so many bytes; waits for those that are being written,
 * but not for ever: a thread may have been taken out of the middle by a signal handler.  Returns
 * how many it waited for in vain. */
typedef void half_function(void *record, void *data);
uint64_t half_walk(const struct half *half, uint64_t used, half_function *each, void *data);

/* Ready for the next writers.  What somebody may still write to is left to him, and where there is
 * no other memory the half stays sealed. */
void half_clean(struct half *half, uint64_t used, uint64_t room, bool is_abandoned);

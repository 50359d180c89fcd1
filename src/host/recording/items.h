/*
 * The items that chunks are made of, but for records, frames, stacks, samples and windows, which
 * are packed.  Each kind of chunk has one kind of item, a struct of facts.h; all of its fields are
 * listed once, in items.c.  Reading gets foreign bytes and returns 0, or -EPROTO for an invalid
 * item; unknown data at the end of a payload is allowed.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/recording/facts.h"

/* The struct of the kind; texts may be NULL for "". */
void item_put(struct bytes *bytes, enum chunk_kind kind, const void *item);
/* Texts are those in the payload. */
int item_read(struct cursor *cursor, enum chunk_kind kind, void *ret) MUST_CHECK;
/* The size of the struct. */
size_t item_size(enum chunk_kind kind);
/* Replaces its texts by copies in the pool.  0 or -ENOMEM. */
struct pool;
int item_keep(enum chunk_kind kind, void *item, struct pool *texts) MUST_CHECK;

/* CHUNK_FUNCTIONS, CHUNK_MODULES, CHUNK_FILES, CHUNK_VARIABLES and CHUNK_COUNTERS: this head, then
 * `count` items. */
struct list_head {
	uint32_t process;
	uint32_t first; /* number of its first entry */
	uint32_t count;
};

void list_put(struct bytes *bytes, const struct list_head *head);
int list_read(struct cursor *cursor, struct list_head *ret) MUST_CHECK;

void function_put(struct bytes *bytes, const struct trace_function *function);
int function_read(struct cursor *cursor, struct trace_function *ret) MUST_CHECK;
/* Makes an entry that a target wrote harmless: texts end, numbers are within their bounds. */
void function_tame(struct trace_function *function);

/* CHUNK_CODE, CHUNK_METRICS and the packed ones: the number of the first item, and how many follow.
 */
struct numbered_head {
	uint32_t first, count;
};

#define NUMBERED_HEAD_BYTES 8u

int numbered_read(struct cursor *cursor, struct numbered_head *ret) MUST_CHECK;
/* Fills in the head of a payload that began with as many bytes. */
void numbered_set(struct bytes *bytes, const struct numbered_head *head);

/* CHUNK_GIL and CHUNK_USAGE begin with the count of their items: no more usage than there are bytes
 * for. */
int usage_count_read(struct cursor *cursor, uint32_t *ret) MUST_CHECK;

/* Fills in the count of a payload that began with another one. */
void count_set(struct bytes *bytes, uint32_t count);

/* Precedes packed records. */
struct records_head {
	uint32_t thread;
	uint32_t sequence; /* of this thread's chunks, from 0: a gap means that one is missing */
	uint32_t count;
	uint32_t reserved;
};

_Static_assert(sizeof(struct records_head) == RECORDS_HEAD_BYTES, "as written down");

int records_read(struct cursor *cursor, struct records_head *ret) MUST_CHECK;

/*
 * Writes values as bytes, and reads them from bytes that may be anything.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Grows as needed.  After a failure, has_failed is set and nothing is added. */
struct bytes {
	unsigned char *data;
	size_t size, room;
	bool has_failed;
};

/* Room for so many bytes behind the last one, or NULL. */
unsigned char *bytes_reserve(struct bytes *bytes, size_t size);
void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_u32(struct bytes *bytes, uint32_t value);
void bytes_u64(struct bytes *bytes, uint64_t value);
/* Writes its length, its characters and a zero. */
void bytes_text(struct bytes *bytes, const char *text);
void bytes_done(struct bytes *bytes);

static inline void bytes_done_at_scope_end(struct bytes *bytes)
{
	bytes_done(bytes);
}

/* After the first value that is not there, all further ones are 0 or "". */
struct cursor {
	const unsigned char *at, *end;
	bool has_failed;
};

const void *cursor_take(struct cursor *cursor, size_t size);
uint8_t cursor_u8(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
/* A terminated string within the bytes. */
const char *cursor_text(struct cursor *cursor);

/* Seven bits at a time, lowest first; the highest bit marks that more follow.  Ten bytes at
 * most. */
#define VARINT_MAX 10u

static inline unsigned char *varint_put(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
}

static inline void bytes_varint(struct bytes *bytes, uint64_t value)
{
	unsigned char *at = bytes_reserve(bytes, VARINT_MAX);

	if (at)
		bytes->size += (size_t)(varint_put(at, value) - at);
}

/* The same for any length. */
uint64_t cursor_long_varint(struct cursor *cursor);

/* Inline, because most values have one byte. */
static inline uint64_t cursor_varint(struct cursor *cursor)
{
	if (cursor->at < cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_long_varint(cursor);
}

/* Signed numbers near zero as small unsigned ones. */
static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* A number as its difference to the last one, which may be larger. */
static inline void bytes_difference(struct bytes *bytes, uint64_t value, uint64_t *last)
{
	bytes_varint(bytes, zigzag(value - *last));
	*last = value;
}

static inline uint64_t cursor_difference(struct cursor *cursor, uint64_t *last)
{
	return *last += unzigzag(cursor_varint(cursor));
}

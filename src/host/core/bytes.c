/*
 * The bytes of chunks.  Input is foreign and never trusted.
 */
#include "host/core/bytes.h"

#include <stdlib.h>
#include <string.h>

unsigned char *bytes_reserve(struct bytes *bytes, size_t size)
{
	size_t room = bytes->room ? bytes->room : 256;
	unsigned char *data;

	if (bytes->has_failed)
		return NULL;
	if (bytes->data && bytes->room - bytes->size >= size)
		return bytes->data + bytes->size;
	while (room - bytes->size < size)
		room *= 2;
	data = realloc(bytes->data, room);
	if (!data) {
		bytes->has_failed = true;
		return NULL;
	}
	bytes->data = data;
	bytes->room = room;
	return data + bytes->size;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	unsigned char *into = bytes_reserve(bytes, size);

	if (!into || !size)
		return;
	memcpy(into, data, size);
	bytes->size += size;
}

void bytes_u32(struct bytes *bytes, uint32_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_u64(struct bytes *bytes, uint64_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_text(struct bytes *bytes, const char *text)
{
	size_t length = strlen(text);

	bytes_u32(bytes, (uint32_t)length);
	bytes_put(bytes, text, length + 1);
}

void bytes_done(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

const void *cursor_take(struct cursor *cursor, size_t size)
{
	const unsigned char *at = cursor->at;

	if (cursor->has_failed || (size_t)(cursor->end - at) < size) {
		cursor->has_failed = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

uint8_t cursor_u8(struct cursor *cursor)
{
	const unsigned char *at = cursor_take(cursor, 1);

	return at ? *at : 0;
}

uint32_t cursor_u32(struct cursor *cursor)
{
	const void *at = cursor_take(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

uint64_t cursor_u64(struct cursor *cursor)
{
	const void *at = cursor_take(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

const char *cursor_text(struct cursor *cursor)
{
	uint32_t length = cursor_u32(cursor);
	const char *text = cursor_take(cursor, (size_t)length + 1);

	if (text && strnlen(text, (size_t)length + 1) == length)
		return text;
	cursor->has_failed = true;
	return "";
}

uint64_t cursor_long_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 7 * VARINT_MAX && cursor->at < cursor->end; shift += 7) {
		unsigned char byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->has_failed = true;
	return 0;
}

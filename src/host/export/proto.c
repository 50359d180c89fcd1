/*
 * Writes protocol buffers: varints and things with a length.
 */
#include "host/export/proto.h"

#include <string.h>

#include "host/core/utf8.h"

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static void put_varint(struct bytes *message, uint64_t value)
{
	unsigned char *at = bytes_reserve(message, VARINT_MAX);

	if (at)
		message->size += (size_t)(varint_put(at, value) - at);
}

void proto_number(struct bytes *message, unsigned field, uint64_t value)
{
	put_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
	put_varint(message, value);
}

static void put_block(struct bytes *message, unsigned field, const void *data, size_t size)
{
	put_varint(message, (uint64_t)field << 3 | WIRE_LENGTH);
	put_varint(message, size);
	bytes_put(message, data, size);
}

static bool is_utf8(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = 1;

	while (*at && (length = utf8_length(at)) > 0)
		at += length;
	return !*at;
}

static void put_mended(struct bytes *message, unsigned field, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	struct bytes mended = { 0 };

	while (*at) {
		size_t length = utf8_length(at);

		bytes_put(&mended, length ? (const char *)at : UTF8_REPLACEMENT,
			  length ? length : strlen(UTF8_REPLACEMENT));
		at += length ? length : 1;
	}
	message->has_failed |= mended.has_failed;
	put_block(message, field, mended.data, mended.size);
	bytes_done(&mended);
}

void proto_text(struct bytes *message, unsigned field, const char *text)
{
	if (is_utf8(text))
		put_block(message, field, text, strlen(text));
	else
		put_mended(message, field, text);
}

void proto_message(struct bytes *message, unsigned field, struct bytes *inner)
{
	message->has_failed |= inner->has_failed;
	put_block(message, field, inner->data, inner->size);
	inner->size = 0;
}

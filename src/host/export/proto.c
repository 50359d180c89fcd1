/*
 * Writes protocol buffers: varints and things with a length.
 */
#include "host/export/proto.h"

#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/utf8.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_LENGTH = 2 };

void proto_number(struct bytes *message, unsigned field, uint64_t value)
{
	bytes_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
	bytes_varint(message, value);
}

void proto_fixed(struct bytes *message, unsigned field, uint64_t value)
{
	bytes_varint(message, (uint64_t)field << 3 | WIRE_FIXED);
	bytes_u64(message, value);
}

static void put_block(struct bytes *message, unsigned field, const void *data, size_t size)
{
	bytes_varint(message, (uint64_t)field << 3 | WIRE_LENGTH);
	bytes_varint(message, size);
	bytes_put(message, data, size);
}

static void put_mended(struct bytes *message, unsigned field, const char *text)
{
	CLEANUP(free) char *mended = utf8_mended(text);

	message->has_failed |= !mended;
	if (mended)
		put_block(message, field, mended, strlen(mended));
}

void proto_text(struct bytes *message, unsigned field, const char *text)
{
	if (utf8_is_valid(text))
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

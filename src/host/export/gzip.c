/*
 * gzip by zlib.
 */
#include "host/export/gzip.h"

#include <errno.h>
#include <zlib.h>

int gzip_put(const struct bytes *plain, struct bytes *ret)
{
	z_stream stream = { .next_in = plain->data, .avail_in = (uInt)plain->size };
	Bytef comment[] = GZIP_COMMENT;
	gz_header head = { .os = 3, .comment = comment };
	size_t room;
	int r;

	/* 16: gzip's head and end, not zlib's. */
	if (plain->size > UINT32_MAX || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
						     15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	deflateSetHeader(&stream, &head);
	room = deflateBound(&stream, plain->size);
	stream.next_out = bytes_reserve(ret, room);
	stream.avail_out = (uInt)room;
	r = stream.next_out ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
	ret->size += stream.total_out;
	deflateEnd(&stream);
	return r == Z_STREAM_END ? 0 : -ENOMEM;
}

/*
 * Writes readings of processes as bytes, and reads them from bytes that may be anything.
 */
#include "host/recording/usage_chunks.h"

#include <errno.h>
#include <string.h>

void usage_begin(struct bytes *bytes)
{
	bytes_u32(bytes, 0);
}

void usage_put(struct bytes *bytes, const struct recorded_usage *usage)
{
	bytes_u32(bytes, usage->process);
	bytes_u32(bytes, usage->threads);
	bytes_u64(bytes, usage->time_ns);
	bytes_u64(bytes, usage->cpu_ns);
	bytes_u64(bytes, usage->rss_bytes);
}

void usage_set_count(struct bytes *bytes, uint32_t count)
{
	if (!bytes->has_failed && bytes->size >= sizeof(count))
		memcpy(bytes->data, &count, sizeof(count));
}

int usage_take_count(struct cursor *cursor, uint32_t *ret)
{
	*ret = cursor_u32(cursor);
	if (cursor->has_failed || *ret > (size_t)(cursor->end - cursor->at) / USAGE_BYTES)
		return -EPROTO;
	return 0;
}

int usage_take(struct cursor *cursor, struct recorded_usage *ret)
{
	ret->process = cursor_u32(cursor);
	ret->threads = cursor_u32(cursor);
	ret->time_ns = cursor_u64(cursor);
	ret->cpu_ns = cursor_u64(cursor);
	ret->rss_bytes = cursor_u64(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

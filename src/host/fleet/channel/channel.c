/*
 * Writes and reads lines, splits messages into them and assembles messages from them.  Runs at both
 * ends; input is foreign.
 */
#include "host/fleet/channel/channel.h"

#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/core/text/base64.h"
#include "host/recording/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define HEAD_MAX 48u
#define HEX      16u

/* The checksum covers the head before it, and the decoded bytes. */
static uint32_t line_checksum(const struct line *line)
{
	unsigned char text[HEAD_MAX + LINE_BYTES_MAX];
	size_t size = (size_t)snprintf((char *)text, HEAD_MAX, "%08" PRIx32 " %" PRIu32 " %c",
				       line->tag, line->number, (char)line->part);

	memcpy(text + size, line->bytes, line->size);
	return checksum_of(text, size + line->size);
}

size_t line_write(const struct line *line, char ret[LINE_SIZE_MAX])
{
	int length =
		snprintf(ret, HEAD_MAX, LINE_MARK "%08" PRIx32 " %" PRIu32 " %c %08" PRIx32 " ",
			 line->tag, line->number, (char)line->part, line_checksum(line));
	size_t used = (size_t)length;

	base64_encode(ret + used, line->bytes, line->size);
	used += BASE64_SIZE(line->size);
	ret[used++] = '\n';
	return used;
}

_Static_assert(HEAD_MAX + BASE64_SIZE(LINE_BYTES_MAX) + 1 <= LINE_SIZE_MAX, "a line has room");

static bool number_take(struct text *text, unsigned base, uint32_t *ret)
{
	uint64_t value;

	if (!text_take_number(text, base, &value) || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return text_take_char(text, ' ');
}

static bool line_parse(struct text text, struct line *ret)
{
	static const char parts[] = { LINE_WHOLE, LINE_FIRST, LINE_MIDDLE, LINE_LAST, LINE_END };
	uint32_t checksum;

	if (!number_take(&text, HEX, &ret->tag) || !number_take(&text, 10, &ret->number) ||
	    text.at >= text.end || !memchr(parts, *text.at, sizeof(parts)))
		return false;
	ret->part = (enum line_part) * text.at++;
	if (!text_take_char(&text, ' ') || !number_take(&text, HEX, &checksum))
		return false;
	/* Some launchers end lines with \r\n. */
	if (text.end > text.at && text.end[-1] == '\r')
		text.end--;
	return base64_decode(text.at, (size_t)(text.end - text.at), ret->bytes, sizeof(ret->bytes),
			     &ret->size) &&
	       line_checksum(ret) == checksum;
}

bool line_read(struct text text, struct line *ret, bool *ret_is_torn)
{
	const size_t mark = strlen(LINE_MARK);

	*ret_is_torn = false;
	while ((size_t)(text.end - text.at) >= mark) {
		const char *at = memmem(text.at, (size_t)(text.end - text.at), LINE_MARK, mark);

		if (!at)
			break;
		text.at = at + mark;
		if (line_parse(text, ret)) {
			*ret_is_torn = false;
			return true;
		}
		*ret_is_torn = true;
	}
	return false;
}

static void message_drop(struct line_stream *self)
{
	self->broken++;
	self->is_open = false;
}

enum line_stream_event line_stream_take(struct line_stream *self, const struct line *line)
{
	bool begins = line->part == LINE_WHOLE || line->part == LINE_FIRST;
	bool ends = line->part == LINE_WHOLE || line->part == LINE_LAST;

	if (line->number < self->next || self->has_ended)
		return STREAM_NOTHING;
	if (line->number > self->next) {
		self->lost += line->number - self->next;
		if (self->is_open)
			message_drop(self);
	}
	self->next = line->number + 1;
	if (line->part == LINE_END) {
		if (self->is_open)
			message_drop(self);
		self->has_ended = true;
		return STREAM_END;
	}
	if (begins) {
		self->broken += self->is_open;
		self->message.size = 0;
		self->message.has_failed = false;
		self->is_open = true;
	}
	if (!self->is_open)
		return STREAM_NOTHING;
	bytes_put(&self->message, line->bytes, line->size);
	if (self->message.has_failed || self->message.size > MESSAGE_BYTES_MAX)
		message_drop(self);
	if (!ends || !self->is_open)
		return STREAM_NOTHING;
	self->is_open = false;
	return STREAM_MESSAGE;
}

void line_stream_done(struct line_stream *self)
{
	bytes_done(&self->message);
	*self = (struct line_stream){ 0 };
}

void channel_init(struct channel *ret, int fd)
{
	*ret = (struct channel){ .fd = fd };
	pthread_mutex_init(&ret->lock, NULL);
	if (getrandom(&ret->tag, sizeof(ret->tag), 0) != (ssize_t)sizeof(ret->tag))
		ret->tag = (uint32_t)now_ns() ^ (uint32_t)getpid();
}

/* With one system call, so that other writers of the same pipe cannot interleave. */
static void line_send(struct channel *self, enum line_part part, const void *bytes, size_t size)
{
	struct line line = {
		.tag = self->tag, .number = self->number++, .part = part, .size = size
	};
	char text[LINE_SIZE_MAX];

	if (size)
		memcpy(line.bytes, bytes, size);
	if (!self->is_broken && descriptor_write(self->fd, text, line_write(&line, text)))
		self->is_broken = true;
}

void channel_send(struct channel *self, struct bytes *message)
{
	size_t at = 0;

	pthread_mutex_lock(&self->lock);
	do {
		size_t size = MIN(message->size - at, LINE_BYTES_MAX);
		bool is_last = at + size == message->size;
		enum line_part part = is_last ? LINE_LAST : LINE_MIDDLE;

		if (!at)
			part = is_last ? LINE_WHOLE : LINE_FIRST;
		line_send(self, part, message->data + at, size);
		at += size;
	} while (at < message->size);
	pthread_mutex_unlock(&self->lock);
	message->size = 0;
}

void channel_end(struct channel *self)
{
	pthread_mutex_lock(&self->lock);
	line_send(self, LINE_END, NULL, 0);
	pthread_mutex_unlock(&self->lock);
}

bool channel_is_broken(struct channel *self)
{
	bool is_broken;

	pthread_mutex_lock(&self->lock);
	is_broken = self->is_broken;
	pthread_mutex_unlock(&self->lock);
	return is_broken;
}

/*
 * Splits messages into lines and writes each with one system call, so that other writers of the
 * same pipe cannot interleave.
 */
#include "host/fleet/channel/channel.h"

#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/fleet/channel/line.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void channel_init(struct channel *ret, int fd)
{
	*ret = (struct channel){ .fd = fd };
	pthread_mutex_init(&ret->lock, NULL);
	if (getrandom(&ret->tag, sizeof(ret->tag), 0) != (ssize_t)sizeof(ret->tag))
		ret->tag = (uint32_t)now_ns() ^ (uint32_t)getpid();
}

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

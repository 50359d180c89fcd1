/*
 * Reads and writes the pipes of one command.  Runs at home; input is foreign.
 */
#include "host/fleet/job/node_start.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/fleet/engine/engine.h"
#include "host/fleet/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define SPOKEN_MAX 65536u
#define PART_BYTES (64u << 10)

static void spoken_forget(struct node_start *self)
{
	for (size_t i = 0; i < self->spoken_count; i++)
		line_stream_done(&self->spoken[i].stream);
	self->spoken_count = 0;
}

int node_start_run(struct node_start *self, const char *const *argv, struct err *err)
{
	spoken_forget(self);
	self->line_size = self->error_size = 0;
	self->has_ended = self->is_wanted = self->is_greeted = false;
	self->sent_bytes = self->heard_bytes = self->piece_bytes = 0;
	self->last_words[0] = '\0';
	return child_start(&self->child, argv, err);
}

void node_start_done(struct node_start *self)
{
	child_end(&self->child);
	spoken_forget(self);
	free(self->spoken);
}

/* By its tag, added if it is new; NULL: no memory. */
static struct spoken *spoken_find(struct node_start *self, uint32_t tag)
{
	for (size_t i = 0; i < self->spoken_count; i++)
		if (self->spoken[i].tag == tag)
			return &self->spoken[i];
	if (self->spoken_count >= SPOKEN_MAX ||
	    make_room(&self->spoken, self->spoken_count, &self->spoken_room, sizeof(*self->spoken)))
		return NULL;
	self->spoken[self->spoken_count] = (struct spoken){ .tag = tag, .node = NODE_NONE };
	return &self->spoken[self->spoken_count++];
}

static void words_keep(struct node_start *self, struct text text)
{
	text_skip_blanks(&text);
	if (text.at < text.end)
		text_copy_printable(text, self->last_words, sizeof(self->last_words));
}

static uint64_t heard_max(const struct node_start *self)
{
	return self->node == NODE_NONE ? HEARD_OF_ALL_MAX : HEARD_MAX;
}

static bool has_said_too_much(const struct node_start *self)
{
	return self->heard_bytes > heard_max(self) || self->piece_bytes > self->piece_max;
}

/* Counts a whole message of recordings or of fleet top separately: these may go on without a limit
 * in time. */
static void piece_count(struct node_start *self, const struct bytes *message)
{
	struct cursor cursor = { message->data, message->data + message->size, false };

	uint32_t kind = message_kind(&cursor);

	if (!self->piece_max || (kind != MESSAGE_PIECE && kind != MESSAGE_TOP))
		return;
	self->heard_bytes -= MIN(message->size, self->heard_bytes);
	self->piece_bytes += message->size;
}

static void line_take(struct node_start *self, struct text text,
		      const struct start_listener *listener)
{
	struct spoken *spoken;
	struct line line;
	bool is_torn;

	if (!line_read(text, &line, &is_torn)) {
		self->torn += is_torn;
		if (text_equals(text, SCRIPT_SENDS))
			self->is_wanted = true;
		else if (!is_torn)
			words_keep(self, text);
		return;
	}
	self->heard_bytes += line.size;
	spoken = has_said_too_much(self) ? NULL : spoken_find(self, line.tag);
	if (!spoken)
		return;
	switch (line_stream_take(&spoken->stream, &line)) {
	case STREAM_MESSAGE:
		piece_count(self, &spoken->stream.message);
		listener->message(listener->context, self, spoken);
		break;
	case STREAM_END:
		listener->ended(listener->context, self, spoken);
		break;
	case STREAM_NOTHING:
		break;
	}
}

/* The rest after the last line end waits for more; an overlong line is dropped. */
static void lines_take(struct node_start *self, bool is_error,
		       const struct start_listener *listener)
{
	char *buffer = is_error ? self->error_line : self->line;
	size_t *size = is_error ? &self->error_size : &self->line_size;
	struct text rest = { buffer, buffer + *size }, line;
	const char *end;

	while ((end = memchr(rest.at, '\n', (size_t)(rest.end - rest.at)))) {
		line = (struct text){ rest.at, end };
		rest.at = end + 1;
		if (is_error)
			words_keep(self, line);
		else
			line_take(self, line, listener);
	}
	*size = (size_t)(rest.end - rest.at);
	memmove(buffer, rest.at, *size);
	if (*size == START_LINE_MAX)
		*size = 0;
}

void node_start_read(struct node_start *self, bool is_error, const struct start_listener *listener)
{
	char *buffer = is_error ? self->error_line : self->line;
	size_t *size = is_error ? &self->error_size : &self->line_size;
	int *fd = is_error ? &self->child.errors : &self->child.output;
	uint64_t most;
	ssize_t got = *fd < 0 ? 0 : read(*fd, buffer + *size, START_LINE_MAX - *size);

	if (got > 0) {
		*size += (size_t)got;
		lines_take(self, is_error, listener);
		if (!has_said_too_much(self))
			return;
		most = self->piece_bytes > self->piece_max ? self->piece_max : heard_max(self);
		snprintf(self->last_words, sizeof(self->last_words),
			 "said more than %" PRIu64 " MiB, and is not heard any more", most >> 20);
		child_ask_to_end(&self->child);
		return;
	}
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (*size && *size < START_LINE_MAX) {
		buffer[(*size)++] = '\n';
		lines_take(self, is_error, listener);
	}
	if (*fd >= 0)
		close(TAKE_FD(*fd));
}

static bool is_sending(const struct node_start *self, uint64_t size)
{
	return self->is_wanted && self->sent_bytes < size;
}

/* The greeting is sent after a node part has greeted: before that, a shell may read. */
bool node_start_has_input(const struct node_start *self, uint64_t size)
{
	bool has_greeted = false;

	for (size_t i = 0; i < self->spoken_count; i++)
		has_greeted |= self->spoken[i].is_greeted;
	return self->child.input >= 0 &&
	       (is_sending(self, size) || (has_greeted && !self->is_greeted));
}

void node_start_write(struct node_start *self, int image, uint64_t size)
{
	off_t offset = (off_t)self->sent_bytes;
	ssize_t sent;

	if (is_sending(self, size)) {
		sent = sendfile(self->child.input, image, &offset,
				(size_t)MIN(size - self->sent_bytes, PART_BYTES));
		if (sent > 0)
			self->sent_bytes += (uint64_t)sent;
		else if (!sent || (errno != EAGAIN && errno != EINTR))
			child_close_input(&self->child);
		return;
	}
	sent = write(self->child.input, LIFELINE_GREETING, strlen(LIFELINE_GREETING));
	if (sent > 0)
		self->is_greeted = true;
	else if (errno != EAGAIN && errno != EINTR)
		child_close_input(&self->child);
}

bool node_start_look(struct node_start *self)
{
	if (self->has_ended)
		return true;
	if (self->child.output >= 0 || self->child.errors >= 0)
		return false;
	self->has_ended = !self->child.pid || child_has_ended(&self->child, &self->status);
	return self->has_ended;
}

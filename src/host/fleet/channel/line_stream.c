/*
 * From lines to messages.  Runs at home; input is foreign.
 */
#include "host/fleet/channel/line_stream.h"

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

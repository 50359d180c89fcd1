/*
 * What one node part says, put together from its lines: messages, in their order.  A line that is
 * missing costs the message that it is part of; what was lost is counted.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/fleet/channel/line.h"

#define MESSAGE_BYTES_MAX (1u << 20)

enum line_stream_event {
	STREAM_NOTHING, /* the message goes on */
	STREAM_MESSAGE, /* `message` is whole, until the next line */
	STREAM_END,     /* nothing more will come */
};

/* Zero is the beginning. */
struct line_stream {
	uint32_t next;   /* number of the line that should come */
	bool is_open;    /* a message has begun, and nothing of it is missing */
	bool has_ended;  /* with its end mark */
	uint64_t lost;   /* lines that never came */
	uint64_t broken; /* messages that were given up */
	struct bytes message;
};

/* Lines come in their order; one that comes late is lost. */
enum line_stream_event line_stream_take(struct line_stream *stream, const struct line *line);
void line_stream_done(struct line_stream *stream);

/*
 * The messages of one node part, assembled from its lines, in order.  A missing line loses its
 * message; lost lines are counted.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/fleet/channel/line.h"

#define MESSAGE_BYTES_MAX (1u << 20)

enum line_stream_event {
	STREAM_NOTHING, /* the message is not whole yet */
	STREAM_MESSAGE, /* `message` is whole, and valid until the next line */
	STREAM_END,     /* the end mark */
};

/* Zero is the beginning. */
struct line_stream {
	uint32_t next;   /* number of the next line */
	bool is_open;    /* a message has begun, and no line of it is missing */
	bool has_ended;  /* with its end mark */
	uint64_t lost;   /* missing lines */
	uint64_t broken; /* messages dropped for that */
	struct bytes message;
};

/* Lines must come in order; a late one is lost. */
enum line_stream_event line_stream_take(struct line_stream *stream, const struct line *line);
void line_stream_done(struct line_stream *stream);

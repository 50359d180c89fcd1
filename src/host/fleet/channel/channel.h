/*
 * The lines that a node part sends.  Launchers forward text, prefix labels, cut long lines and
 * interleave output: so each line is short, has a number and a checksum, and is found at any
 * offset.
 *
 *   limpet1 TAG NUMBER PART CHECKSUM BASE64
 *
 *   TAG       of the node part, 8 digits by chance: lines of many come through one pipe
 *   NUMBER    of the line, from 0, without gaps
 *   PART      '.' a whole message, '<' '=' '>' its first, a middle, its last part, '!' the end
 *   CHECKSUM  CRC-32 of what stands before and behind it
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/text/text.h"

#include <pthread.h>

#define LINE_MARK      "limpet1 "
#define LINE_SIZE_MAX  900u /* with its end, and room for a label */
#define LINE_BYTES_MAX 630u

/* Home sends it to the stdin of a node part. */
#define LIFELINE_GREETING "limpet\n"

enum line_part {
	LINE_WHOLE = '.',
	LINE_FIRST = '<',
	LINE_MIDDLE = '=',
	LINE_LAST = '>',
	LINE_END = '!',
};

struct line {
	uint32_t tag, number;
	enum line_part part;
	size_t size;
	unsigned char bytes[LINE_BYTES_MAX];
};

/* With its end; returns its length, below LINE_SIZE_MAX. */
size_t line_write(const struct line *line, char ret[LINE_SIZE_MAX]);

/* The line in this text, which has no line end, after any label.  False: there is no whole one;
 * *ret_is_torn: one began there. */
bool line_read(struct text text, struct line *ret, bool *ret_is_torn);

#define MESSAGE_BYTES_MAX (1u << 20)

enum line_stream_event {
	STREAM_NOTHING, /* the message is not whole yet */
	STREAM_MESSAGE, /* `message` is whole, and valid until the next line */
	STREAM_END,     /* the end mark */
};

/* The messages of one node part, assembled from its lines, in order.  A missing line loses its
 * message; lost lines are counted.  Zero is the beginning. */
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

/* The node part's side: sends messages home.  Any thread. */
struct channel {
	pthread_mutex_t lock; /* guards what follows */
	int fd;
	uint32_t tag, number;
	bool is_broken; /* no reader is left */
};

/* Sends nothing yet.  The caller owns the descriptor. */
void channel_init(struct channel *ret, int fd);

/* Empties the message.  After a failed write it is dropped: channel_is_broken(). */
void channel_send(struct channel *channel, struct bytes *message);
/* Sends the end mark; the last call. */
void channel_end(struct channel *channel);

bool channel_is_broken(struct channel *channel);

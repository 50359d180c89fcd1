/*
 * The node part's side: sends messages home.  Any thread.
 */
#pragma once

#include "host/core/bytes.h"

#include <pthread.h>
#include <stdbool.h>

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

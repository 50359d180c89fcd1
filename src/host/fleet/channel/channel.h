/*
 * The node part's side: messages on their way home.  Any thread.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/err.h"

#include <pthread.h>
#include <stdbool.h>

struct channel {
	pthread_mutex_t lock; /* of what follows */
	int fd;
	uint32_t tag, number;
	bool is_broken; /* nobody listens any more */
};

/* Says nothing yet.  The descriptor stays the caller's. */
void channel_init(struct channel *ret, int fd);

/* The message is emptied.  What does not get through is dropped: channel_is_broken(). */
void channel_send(struct channel *channel, struct bytes *message);
/* Nothing comes after this. */
void channel_end(struct channel *channel);

bool channel_is_broken(struct channel *channel);

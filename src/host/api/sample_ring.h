/*
 * The last samples: a bounded memory between the thread that samples and those who read.  The
 * writer never waits for a reader; what was overwritten before its time is counted.
 */
#pragma once

#include "host/api/stacks.h"
#include "limpet/limpet.h"

struct kept_sample {
	struct limpet_sample seen; /* its stack is the one below */
	struct limpet_stack stack;
	unsigned users; /* under the ring's lock */
	struct recorded_frame frames[];
};

struct sample_ring {
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t filled;
	struct kept_sample **items;
	size_t room;
	uint64_t next;        /* number of the next sample */
	uint64_t told;        /* the first one that sample_ring_next() has not given */
	uint64_t overwritten; /* before it could */
	bool is_closed;
};

int sample_ring_init(struct sample_ring *ring, size_t room) MUST_CHECK;
void sample_ring_done(struct sample_ring *ring);

/* NULL: no memory.  For sample_ring_push(). */
struct kept_sample *kept_sample_new(size_t frame_count);
/* Takes it over, and numbers it. */
void sample_ring_push(struct sample_ring *ring, struct kept_sample *kept);

/* While it is closed sample_ring_next() does not wait. */
void sample_ring_set_closed(struct sample_ring *ring, bool is_closed);
/* The next one, waited for; NULL: the ring is closed, and all were given.  For one thread. */
struct kept_sample *sample_ring_next(struct sample_ring *ring);
/* The last ones, oldest first, at most `count`; how many there are. */
size_t sample_ring_last(struct sample_ring *ring, size_t count, struct kept_sample **ret);
/* Gives back what one of both has given. */
void sample_ring_release(struct sample_ring *ring, struct kept_sample *kept);

uint64_t sample_ring_overwritten(struct sample_ring *ring);

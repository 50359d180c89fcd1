/*
 * The newest samples, in memory of a fixed size, between the sampling thread and reader threads.
 * The writer never waits for a reader; samples overwritten before a reader got them are counted.
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
	uint64_t told;        /* the first sample that sample_ring_next() has not returned */
	uint64_t overwritten; /* before it could */
	bool is_closed;
};

int sample_ring_init(struct sample_ring *ring, size_t room) MUST_CHECK;
void sample_ring_done(struct sample_ring *ring);

/* NULL: no memory.  For sample_ring_push(). */
struct kept_sample *kept_sample_new(size_t frame_count);
/* Owns the sample from now on, and numbers it. */
void sample_ring_push(struct sample_ring *ring, struct kept_sample *kept);

/* While it is closed sample_ring_next() does not wait. */
void sample_ring_set_closed(struct sample_ring *ring, bool is_closed);
/* Waits for the next one; NULL: the ring is closed, and all were returned.  For one thread. */
struct kept_sample *sample_ring_next(struct sample_ring *ring);
/* The last ones, oldest first, at most `count`; how many there are. */
size_t sample_ring_last(struct sample_ring *ring, size_t count, struct kept_sample **ret);
/* Releases samples returned by the two functions above. */
void sample_ring_release(struct sample_ring *ring, struct kept_sample *kept);

uint64_t sample_ring_overwritten(struct sample_ring *ring);

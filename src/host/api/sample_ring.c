/*
 * Samples in a circle.
 */
#include "host/api/sample_ring.h"

#include <errno.h>
#include <stdlib.h>

int sample_ring_init(struct sample_ring *ring, size_t room)
{
	*ring = (struct sample_ring){ .room = room, .is_closed = true };
	ring->items = calloc(room, sizeof(struct kept_sample *));
	if (!ring->items)
		return -ENOMEM;
	pthread_mutex_init(&ring->lock, NULL);
	pthread_cond_init(&ring->filled, NULL);
	return 0;
}

void sample_ring_done(struct sample_ring *ring)
{
	if (!ring->items)
		return;
	for (size_t i = 0; i < ring->room; i++)
		free(ring->items[i]);
	free(ring->items);
	pthread_cond_destroy(&ring->filled);
	pthread_mutex_destroy(&ring->lock);
}

struct kept_sample *kept_sample_new(size_t frame_count)
{
	struct kept_sample *kept = calloc(1, sizeof(*kept) + frame_count * sizeof(kept->frames[0]));

	if (!kept)
		return NULL;
	kept->users = 1;
	kept->seen.struct_size = sizeof(kept->seen);
	kept->seen.frame_count = frame_count;
	kept->seen.stack = &kept->stack;
	kept->stack.frames = kept->frames;
	kept->stack.count = frame_count;
	return kept;
}

static void sample_ring_drop(struct kept_sample *kept)
{
	if (kept && !--kept->users)
		free(kept);
}

void sample_ring_push(struct sample_ring *ring, struct kept_sample *kept)
{
	struct kept_sample **slot;

	pthread_mutex_lock(&ring->lock);
	slot = &ring->items[ring->next % ring->room];
	if (*slot && ring->told <= (*slot)->seen.number) {
		ring->told = (*slot)->seen.number + 1;
		ring->overwritten++;
	}
	sample_ring_drop(*slot);
	kept->seen.number = ring->next++;
	*slot = kept;
	pthread_cond_signal(&ring->filled);
	pthread_mutex_unlock(&ring->lock);
}

void sample_ring_set_closed(struct sample_ring *ring, bool is_closed)
{
	pthread_mutex_lock(&ring->lock);
	ring->is_closed = is_closed;
	pthread_cond_signal(&ring->filled);
	pthread_mutex_unlock(&ring->lock);
}

struct kept_sample *sample_ring_next(struct sample_ring *ring)
{
	struct kept_sample *kept = NULL;

	pthread_mutex_lock(&ring->lock);
	while (ring->told == ring->next && !ring->is_closed)
		pthread_cond_wait(&ring->filled, &ring->lock);
	if (ring->told != ring->next) {
		kept = ring->items[ring->told++ % ring->room];
		kept->users++;
	}
	pthread_mutex_unlock(&ring->lock);
	return kept;
}

size_t sample_ring_last(struct sample_ring *ring, size_t count, struct kept_sample **ret)
{
	uint64_t first;

	pthread_mutex_lock(&ring->lock);
	count = (size_t)MIN(MIN((uint64_t)count, ring->next), (uint64_t)ring->room);
	first = ring->next - count;
	for (size_t i = 0; i < count; i++) {
		ret[i] = ring->items[(first + i) % ring->room];
		ret[i]->users++;
	}
	pthread_mutex_unlock(&ring->lock);
	return count;
}

void sample_ring_release(struct sample_ring *ring, struct kept_sample *kept)
{
	pthread_mutex_lock(&ring->lock);
	sample_ring_drop(kept);
	pthread_mutex_unlock(&ring->lock);
}

uint64_t sample_ring_overwritten(struct sample_ring *ring)
{
	uint64_t count;

	pthread_mutex_lock(&ring->lock);
	count = ring->overwritten;
	pthread_mutex_unlock(&ring->lock);
	return count;
}

/*
 * A ring of chunks between two threads.
 */
#include "host/recording/read_ahead.h"

#include "host/core/threads/quiet_thread.h"
#include "host/recording/pack_samples.h"

#include <pthread.h>
#include <stdlib.h>

#define SLOTS 4u

struct slot {
	struct chunk chunk;
	struct reader_buffers buffers; /* the memory of its payload */
	struct decoded_samples samples;
};

struct read_ahead {
	struct recording_reader *reader;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot slots[SLOTS];
	size_t read, taken; /* chunks so far; the last one taken is still in use */
	bool is_ended, is_stopped;
};

/* Waits for a free slot; NULL: no more are wanted. */
static struct slot *slot_wait(struct read_ahead *self)
{
	struct slot *slot = NULL;

	pthread_mutex_lock(&self->lock);
	while (!self->is_stopped && self->read + 1 - self->taken >= SLOTS)
		pthread_cond_wait(&self->changed, &self->lock);
	if (!self->is_stopped)
		slot = &self->slots[self->read % SLOTS];
	pthread_mutex_unlock(&self->lock);
	return slot;
}

/* The expensive work is done here, too. */
static int slot_read(struct read_ahead *self, struct slot *slot)
{
	int r;

	reader_swap(self->reader, &slot->buffers);
	r = reader_next(self->reader, &slot->chunk);
	reader_swap(self->reader, &slot->buffers);
	if (r && slot->chunk.kind == CHUNK_SAMPLES) {
		(void)!samples_decode(slot->chunk.payload, &slot->samples);
		slot->chunk.samples = &slot->samples;
	}
	return r;
}

static void *chunks_read(void *argument)
{
	struct read_ahead *self = argument;
	struct slot *slot;
	int r = 1;

	while (r && (slot = slot_wait(self))) {
		r = slot_read(self, slot);
		pthread_mutex_lock(&self->lock);
		self->read += r;
		self->is_ended = !r;
		pthread_cond_signal(&self->changed);
		pthread_mutex_unlock(&self->lock);
	}
	return NULL;
}

struct read_ahead *read_ahead_start(struct recording_reader *reader)
{
	struct read_ahead *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->reader = reader;
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
	if (!quiet_thread(&self->thread, chunks_read, self))
		return self;
	free(self);
	return NULL;
}

int read_ahead_next(struct read_ahead *self, struct chunk *ret)
{
	int r;

	pthread_mutex_lock(&self->lock);
	while (self->taken == self->read && !self->is_ended)
		pthread_cond_wait(&self->changed, &self->lock);
	r = self->taken < self->read;
	if (r)
		*ret = self->slots[self->taken++ % SLOTS].chunk;
	pthread_cond_signal(&self->changed);
	pthread_mutex_unlock(&self->lock);
	return r;
}

void read_ahead_stop(struct read_ahead *self)
{
	if (!self)
		return;
	pthread_mutex_lock(&self->lock);
	self->is_stopped = true;
	pthread_cond_signal(&self->changed);
	pthread_mutex_unlock(&self->lock);
	pthread_join(self->thread, NULL);
	for (size_t i = 0; i < SLOTS; i++) {
		reader_buffers_done(&self->slots[i].buffers);
		decoded_samples_done(&self->slots[i].samples);
	}
	pthread_cond_destroy(&self->changed);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

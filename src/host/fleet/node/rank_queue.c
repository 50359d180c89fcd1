/*
 * A queue with one thread, and more only to replace stuck ones.  Runs on nodes.
 */
#include "host/fleet/node/node_private.h"

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

static bool item_take(struct rank_queue *self, size_t *ret)
{
	bool has_one;

	pthread_mutex_lock(&self->lock);
	has_one = self->next < self->count && !self->is_stopping;
	if (has_one) {
		*ret = self->next++;
		self->items[*ret] = (struct rank_item){ PHASE_WORKING, now_ns() };
	}
	pthread_mutex_unlock(&self->lock);
	return has_one;
}

/* A thread whose item took too long ends with it: another one has replaced it. */
static bool item_settle(struct rank_queue *self, size_t index)
{
	bool is_late;

	pthread_mutex_lock(&self->lock);
	is_late = self->items[index].phase == PHASE_STUCK;
	if (self->items[index].phase == PHASE_WORKING) {
		self->items[index].phase = PHASE_FINISHED;
		self->left--;
	}
	pthread_mutex_unlock(&self->lock);
	eventfd_write(self->changed, 1);
	return !is_late;
}

static void *queue_run(void *argument)
{
	struct rank_queue *self = argument;
	size_t index;

	while (item_take(self, &index)) {
		self->work(self->context, self, index);
		if (!item_settle(self, index))
			break;
	}
	return NULL;
}

static int thread_add(struct rank_queue *self)
{
	pthread_t thread;
	int r = quiet_thread(&thread, queue_run, self);

	if (!r)
		pthread_detach(thread);
	return r;
}

int rank_queue_start(struct rank_queue **ret, size_t count, uint64_t limit_ns, rank_work *work,
		     void *context)
{
	struct rank_queue *self = calloc(1, sizeof(*self));

	if (!self)
		return -ENOMEM;
	self->items = calloc(count + 1, sizeof(*self->items));
	self->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!self->items || self->changed < 0) {
		free(self->items);
		free(self);
		return -ENOMEM;
	}
	pthread_mutex_init(&self->lock, NULL);
	self->work = work;
	self->context = context;
	self->count = self->left = count;
	self->limit_ns = limit_ns;
	*ret = self;
	return thread_add(self);
}

bool rank_queue_finish(struct rank_queue *self, size_t index)
{
	pthread_mutex_lock(&self->lock);
	if (self->items[index].phase == PHASE_WORKING)
		return true;
	pthread_mutex_unlock(&self->lock);
	return false;
}

void rank_queue_release(struct rank_queue *self)
{
	pthread_mutex_unlock(&self->lock);
}

size_t rank_queue_look(struct rank_queue *self)
{
	size_t stuck = 0, left;
	uint64_t now;

	pthread_mutex_lock(&self->lock);
	/* With the lock held: an item may have begun during the wait. */
	now = now_ns();
	for (size_t i = 0; i < self->next; i++) {
		struct rank_item *item = &self->items[i];

		if (item->phase != PHASE_WORKING || now - item->begin_ns < self->limit_ns)
			continue;
		item->phase = PHASE_STUCK;
		self->left--;
		stuck++;
	}
	left = self->is_stopping ? self->left - (self->count - self->next) : self->left;
	pthread_mutex_unlock(&self->lock);
	while (stuck--)
		(void)!thread_add(self);
	return left;
}

void rank_queue_stop(struct rank_queue *self)
{
	pthread_mutex_lock(&self->lock);
	self->is_stopping = true;
	pthread_mutex_unlock(&self->lock);
}

bool rank_queue_is_missing(struct rank_queue *self, size_t index)
{
	bool is_missing;

	pthread_mutex_lock(&self->lock);
	is_missing = self->items[index].phase != PHASE_FINISHED;
	pthread_mutex_unlock(&self->lock);
	return is_missing;
}

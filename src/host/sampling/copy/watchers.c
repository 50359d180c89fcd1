/*
 * Threads that read samples on the processor where they were taken.
 */
#include "host/sampling/copy/watchers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/sampling/priority.h"

#define WATCHERS_MAX 128u /* a machine with more processors has no watchers */

struct watcher {
	struct watchers *all;
	pthread_t thread;
	int cpu, fd;
};

struct watchers {
	pthread_mutex_t lock; /* guards all below, and what take() uses */
	pthread_cond_t has_result;
	int (*take)(void *context); /* NULL: not now */
	void *context;
	int result; /* its last one other than 0 */
	uint64_t used_ns;
	int end_fd; /* readable: the thread ends */
	size_t count;
	struct watcher items[WATCHERS_MAX];
};

static void watchers_return(struct watchers *all, int result)
{
	all->result = result;
	all->take = NULL;
	pthread_cond_signal(&all->has_result);
}

static void take_now(struct watchers *all)
{
	uint64_t since = thread_cpu_ns();
	int r;

	pthread_mutex_lock(&all->lock);
	r = all->take ? all->take(all->context) : 0;
	if (r)
		watchers_return(all, r);
	all->used_ns += thread_cpu_ns() - since;
	pthread_mutex_unlock(&all->lock);
}

static void *watcher_run(void *context)
{
	const struct watcher *self = context;
	struct priority priority;
	struct pollfd waits[] = { { .fd = self->fd, .events = POLLIN },
				  { .fd = self->all->end_fd, .events = POLLIN } };

	/* Above the threads that it watches, if allowed. */
	priority_raise(&priority);
	if (!priority.tid)
		priority_shorten_turns(&priority);
	for (;;) {
		if (poll(waits, ARRAY_SIZE(waits), -1) < 0 && errno != EINTR)
			break;
		if (waits[1].revents)
			return NULL;
		if (waits[0].revents & ~POLLIN)
			break;
		if (waits[0].revents)
			take_now(self->all);
	}
	pthread_mutex_lock(&self->all->lock);
	watchers_return(self->all, -ENODATA);
	pthread_mutex_unlock(&self->all->lock);
	return NULL;
}

/* One on each processor that has a ring. */
static int start_all(struct watchers *self, const struct perf_events *events)
{
	int r = 0;

	for (size_t i = 0; !r && i < events->ring_count; i++) {
		struct watcher *watcher = &self->items[self->count];
		cpu_set_t set;

		if (!events->rings[i].page)
			continue;
		*watcher = (struct watcher){ .all = self,
					     .cpu = events->rings[i].cpu,
					     .fd = events->rings[i].fd };
		r = quiet_thread(&watcher->thread, watcher_run, watcher);
		if (r)
			break;
		CPU_ZERO(&set);
		CPU_SET((size_t)watcher->cpu, &set);
		pthread_setaffinity_np(watcher->thread, sizeof(set), &set);
		self->count++;
	}
	return r;
}

int watchers_open(struct watchers **ret, const struct perf_events *events)
{
	pthread_condattr_t attributes;
	struct watchers *self;
	int r;

	if (events->ring_count > WATCHERS_MAX)
		return -E2BIG;
	self = calloc(1, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->end_fd = eventfd(0, EFD_CLOEXEC);
	if (self->end_fd < 0) {
		free(self);
		return -EMFILE;
	}
	pthread_mutex_init(&self->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&self->has_result, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_lock(&self->lock);
	r = start_all(self, events);
	if (r < 0)
		watchers_close(self);
	else
		*ret = self;
	return r;
}

int watchers_let(struct watchers *self, int (*take)(void *context), void *context,
		 uint64_t limit_ns)
{
	uint64_t end_ns = now_ns() + limit_ns;
	struct timespec end = { .tv_sec = (time_t)(end_ns / 1000000000u),
				.tv_nsec = (long)(end_ns % 1000000000u) };

	if (self->result == -ENODATA)
		return -ENODATA;
	self->result = 0;
	self->take = take;
	self->context = context;
	while (!self->result &&
	       pthread_cond_timedwait(&self->has_result, &self->lock, &end) != ETIMEDOUT)
		;
	self->take = NULL;
	return self->result;
}

uint64_t watchers_used_ns(const struct watchers *self)
{
	return self ? self->used_ns : 0;
}

void watchers_close(struct watchers *self)
{
	const uint64_t one = 1;
	bool is_known;
	cpu_set_t set;

	if (!self)
		return;
	(void)!write(self->end_fd, &one, sizeof(one));
	pthread_mutex_unlock(&self->lock);
	/* They end on any processor: a realtime program may occupy theirs for ever. */
	is_known = !sched_getaffinity(0, sizeof(set), &set);
	for (size_t i = 0; i < self->count; i++) {
		if (is_known)
			pthread_setaffinity_np(self->items[i].thread, sizeof(set), &set);
		pthread_join(self->items[i].thread, NULL);
	}
	pthread_cond_destroy(&self->has_result);
	pthread_mutex_destroy(&self->lock);
	close(self->end_fd);
	free(self);
}

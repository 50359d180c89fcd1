/*
 * The thread that samples.  All that is the sampler's happens on it: it may raise its own priority.
 */
#include "host/top/source.h"

#include "host/core/quiet_thread.h"
#include "host/top/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS    25000000
#define LAST_DRAINS 8u

struct source {
	struct live *live;
	struct sampling_options options;
	struct sampler *sampler; /* the thread's */
	struct python_watch *watch;
	struct err trouble;               /* with a sample; the thread's */
	struct sampler_refusals refusals; /* of better ones; the thread's */
	pthread_t thread;
	bool is_running; /* the thread is to be joined */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool is_open, is_asked_to_stop;
	struct source_facts facts;
};

static void take_sample(void *context, const struct sample *sample, struct space *space)
{
	struct source *self = context;

	python_watch_sample(self->watch, sample, space);
	if (!self->trouble.code && live_take(self->live, sample, space))
		err_set(&self->trouble, -ENOMEM, "samples: no memory");
}

static void take_process(void *context, pid_t pid, pid_t parent)
{
	struct source *self = context;

	(void)parent;
	python_watch_forget(self->watch, pid);
	if (!self->trouble.code && live_process(self->live))
		err_set(&self->trouble, -ENOMEM, "samples: no memory");
}

static void explain(struct source *self)
{
	sampler_explain(&self->refusals, self->sampler, self->facts.reasons,
			sizeof(self->facts.reasons));
}

/* 0, -ESRCH when the process has ended, or a failure. */
static int drain(struct source *self, struct err *err)
{
	const struct sampler_listener listener = { take_sample, take_process, self };
	struct sampler_counts counts;
	int r = self->sampler->kind->drain(self->sampler, &listener, err);

	if (self->trouble.code) {
		*err = self->trouble;
		r = self->trouble.code;
	}
	python_watch_look(self->watch);
	counts = self->sampler->kind->counts(self->sampler);
	pthread_mutex_lock(&self->lock);
	self->facts.lost = counts.lost;
	self->facts.throttled = counts.throttled;
	/* Some of what it cannot see is known only later. */
	if (!strstr(self->facts.reasons, self->sampler->limits))
		explain(self);
	pthread_mutex_unlock(&self->lock);
	return r;
}

static void enter(struct source *self, bool has_ended, const struct err *err)
{
	pthread_mutex_lock(&self->lock);
	self->is_open = true;
	self->facts.has_ended = has_ended;
	/* The end of a process that was sampled is no error. */
	if (err->code != -ESRCH || !self->facts.sampler)
		self->facts.error = *err;
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

static bool is_asked_to_stop(struct source *self)
{
	bool is_asked;

	pthread_mutex_lock(&self->lock);
	is_asked = self->is_asked_to_stop;
	pthread_mutex_unlock(&self->lock);
	return is_asked;
}

static int open_sampler(struct source *self, struct err *err)
{
	int r = sampler_choose(&self->sampler, &self->options.sampler, self->options.name,
			       &self->refusals, err);

	if (r) {
		if (r == -EPERM || r == -EACCES)
			err_exit(err, EXIT_NOT_PERMITTED);
		return err_while(err, "sample %d", self->options.sampler.pid);
	}
	explain(self);
	self->facts.sampler = self->sampler->kind->name;
	self->facts.summary = self->sampler->kind->summary;
	return 0;
}

static void close_sampler(struct source *self, int r)
{
	struct err ignored = { 0 };
	uint64_t before = UINT64_MAX, now;

	self->sampler->kind->stop(self->sampler);
	for (unsigned i = 0; !r && i < LAST_DRAINS; i++) {
		now = live_counts(self->live).seen;
		if (now == before)
			break;
		before = now;
		r = drain(self, &ignored);
	}
	sampler_close(self->sampler);
	self->sampler = NULL;
}

static void *run(void *argument)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct source *self = argument;
	struct err err = { 0 };
	int r = open_sampler(self, &err);

	if (r) {
		enter(self, false, &err);
		return NULL;
	}
	enter(self, false, &err);
	while (!r && !is_asked_to_stop(self)) {
		if (!self->sampler->is_prompt)
			nanosleep(&pause, NULL);
		r = drain(self, &err);
	}
	close_sampler(self, r);
	enter(self, r == -ESRCH, &err);
	return NULL;
}

static int start_thread(struct source *self)
{
	int r = quiet_thread(&self->thread, run, self);

	self->is_running = !r;
	return r;
}

/* 0, or why it could not be opened. */
static int wait_until_open(struct source *self, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	while (!self->is_open)
		pthread_cond_wait(&self->changed, &self->lock);
	r = self->facts.sampler ? 0 : self->facts.error.code;
	if (r)
		*err = self->facts.error;
	pthread_mutex_unlock(&self->lock);
	return r;
}

int source_start(struct source **ret, struct live *live, const struct sampling_options *options,
		 struct err *err)
{
	struct source *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "sample: no memory");
	self->live = live;
	self->options = *options;
	self->watch = python_watch_new();
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
	r = self->watch ? start_thread(self) : -ENOMEM;
	r = r ? err_set(err, r, "start the sampler's thread: %s", strerror(-r))
	      : wait_until_open(self, err);
	if (r)
		source_free(self);
	else
		*ret = self;
	return r;
}

void source_look(struct source *self, struct source_facts *ret)
{
	pthread_mutex_lock(&self->lock);
	*ret = self->facts;
	pthread_mutex_unlock(&self->lock);
}

bool source_python_thread(struct source *self, pid_t tid, struct watched_thread *ret)
{
	return python_watch_find(self->watch, self->options.sampler.pid, tid, ret);
}

void source_stop(struct source *self)
{
	pthread_mutex_lock(&self->lock);
	self->is_asked_to_stop = true;
	pthread_mutex_unlock(&self->lock);
	if (self->is_running)
		pthread_join(self->thread, NULL);
	self->is_running = false;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	source_stop(source);
	pthread_cond_destroy(&source->changed);
	pthread_mutex_destroy(&source->lock);
	python_watch_free(source->watch);
	free(source);
}

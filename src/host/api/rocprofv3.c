/*
 * A job of AMD's variables on a thread of its own, for the attach libraries.  The thread blocks all
 * signals; the caller waits for its beginning and for its end.
 */
#include "host/api/rocprofv3.h"

#include "host/api/api.h"
#include "host/core/threads/quiet_thread.h"
#include "host/process/forks/scope.h"
#include "host/rocprofv3/environment.h"
#include "host/rocprofv3/job.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct limpet_rocprofv3 {
	struct profile profile;
	char **tools; /* a copy, with its texts */
	size_t tool_count;
	struct profile_job job;
	struct job_listener listener;
	void (*say)(int level, const char *text);
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool has_begun, is_done;
	int stop; /* readable: it shall end */
	struct err err;
};

static void attached_say(void *context, enum say_level level, const char *text)
{
	const struct limpet_rocprofv3 *self = context;

	self->say((int)level, text);
}

static void attached_say_file(void *context, const char *path)
{
	const struct limpet_rocprofv3 *self = context;

	listener_say(&self->listener, SAY_INFO, "Opened result file: %s", path);
}

static void attached_say_note(void *context, const char *note)
{
	const struct limpet_rocprofv3 *self = context;

	listener_say(&self->listener, SAY_WARNING, "%s", note);
}

static enum ending attached_wait(void *context, int pidfd, uint64_t time_ns)
{
	const struct limpet_rocprofv3 *self = context;
	struct pollfd fds[] = { { self->stop, POLLIN, 0 }, { pidfd, POLLIN, 0 } };

	poll(fds, ARRAY_SIZE(fds), (int)MIN(time_ns / 1000000 + 1, 1000ull));
	if (fds[0].revents)
		return ENDING_SIGNAL;
	return fds[1].revents ? ENDING_EXIT : ENDING_DURATION;
}

static void attached_set(struct limpet_rocprofv3 *self, bool *what)
{
	pthread_mutex_lock(&self->lock);
	*what = true;
	pthread_cond_signal(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

static void attached_begun(void *context)
{
	struct limpet_rocprofv3 *self = context;

	attached_set(self, &self->has_begun);
}

static void *attached_run(void *argument)
{
	struct limpet_rocprofv3 *self = argument;
	struct results results;

	if (!profile_job_run(&self->job, &results, &self->err))
		self->err.code = 0;
	attached_set(self, &self->is_done);
	return NULL;
}

static void attached_free(struct limpet_rocprofv3 *self)
{
	if (self->stop >= 0)
		close(self->stop);
	for (size_t i = 0; i < self->tool_count; i++)
		free(self->tools[i]);
	free(self->tools);
	profile_done(&self->profile);
	pthread_mutex_destroy(&self->lock);
	pthread_cond_destroy(&self->changed);
	free(self);
}

static int attached_copy_tools(struct limpet_rocprofv3 *self,
			       const struct limpet_rocprofv3_options *options, struct err *err)
{
	self->tools = calloc(options->tool_count + 1, sizeof(*self->tools));
	for (size_t i = 0; self->tools && i < options->tool_count; i++) {
		self->tools[i] = strdup(options->tools[i]);
		if (!self->tools[i])
			break;
		self->tool_count++;
	}
	return self->tool_count == options->tool_count
		       ? 0
		       : err_set(err, -ENOMEM, "no memory for the names of tools");
}

static int attached_prepare(struct limpet_rocprofv3 *self,
			    const struct limpet_rocprofv3_options *options, struct err *err)
{
	int r = environment_read(&self->profile, environ, attached_say_note, self, err);

	self->profile.is_by_variables = true;
	if (!r)
		r = profile_finish(&self->profile, err);
	if (!r)
		r = attached_copy_tools(self, options, err);
	self->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r && self->stop < 0)
		r = err_set(err, -errno, "eventfd: %s", strerror(errno));
	self->job.tools = (const char *const *)self->tools;
	self->job.tool_count = self->tool_count;
	return r;
}

/* 0 when it has begun; one that is done before that has failed. */
static int attached_await(struct limpet_rocprofv3 *self, struct err *err)
{
	bool has_begun;

	pthread_mutex_lock(&self->lock);
	while (!self->has_begun && !self->is_done)
		pthread_cond_wait(&self->changed, &self->lock);
	has_begun = self->has_begun;
	pthread_mutex_unlock(&self->lock);
	if (has_begun)
		return 0;
	pthread_join(self->thread, NULL);
	*err = self->err;
	return err->code ? err->code : err_set(err, -EIO, "it ended before it began");
}

static struct limpet_rocprofv3 *attached_new(const struct limpet_rocprofv3_options *options)
{
	struct limpet_rocprofv3 *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
	self->stop = -1;
	self->say = options->say;
	profile_init(&self->profile);
	self->profile.has_children = options->has_children;
	self->listener = (struct job_listener){ attached_say, attached_wait, attached_begun,
						attached_say_file, self };
	self->job = (struct profile_job){ .pid = options->pid,
					  .version = LIMPET_VERSION,
					  .duration_ns = UINT64_MAX,
					  .profile = &self->profile,
					  .listener = &self->listener };
	return self;
}

EXPORT struct limpet_rocprofv3 *
limpet_private_rocprofv3_begin(const struct limpet_rocprofv3_options *options,
			       struct limpet_error *error)
{
	struct limpet_rocprofv3 *self = attached_new(options);
	struct err err = { 0 };
	int r = self ? attached_prepare(self, options, &err)
		     : err_set(&err, -ENOMEM, "out of memory");

	if (!r) {
		r = quiet_thread(&self->thread, attached_run, self);
		r = r ? err_set(&err, r, "a thread for tracing: %s", strerror(-r))
		      : attached_await(self, &err);
	}
	if (!r)
		return self;
	api_report(&err, error);
	if (self)
		attached_free(self);
	return NULL;
}

EXPORT int limpet_private_scope(int pid, char *text, size_t room)
{
	struct err err = { 0 };

	if (scope_check(pid, &err) != -EPERM)
		return 0;
	snprintf(text, room, "%s", err.what);
	return 1;
}

EXPORT int limpet_private_rocprofv3_end(struct limpet_rocprofv3 *self, struct limpet_error *error)
{
	int r;

	eventfd_write(self->stop, 1);
	pthread_join(self->thread, NULL);
	r = api_report(&self->err, error);
	attached_free(self);
	return r;
}

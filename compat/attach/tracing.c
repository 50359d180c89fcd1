/*
 * A job in a thread of its own.  The thread takes no signal; the caller waits for its beginning and
 * for its end.
 */
#include "tracing.h"

#include "environment.h"
#include "log.h"
#include "profiling.h"

#include "host/core/quiet_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

_Static_assert((int)SAY_ERROR == (int)LOG_ERROR && (int)SAY_TRACE == (int)LOG_TRACE,
	       "levels are the same");

struct tracing {
	struct profile profile;
	struct tool_list tools; /* a copy, with its texts */
	struct profiling job;
	struct face face;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool has_begun, is_done;
	int stop; /* readable: it shall end */
	struct err err;
};

static void say(void *context, enum say_level level, const char *text)
{
	(void)context;
	log_lines((enum log_level)level, text);
}

static void say_file(void *context, const char *path)
{
	(void)context;
	log_say(LOG_INFO, "Opened result file: %s", path);
}

static void say_note(void *context, const char *note)
{
	(void)context;
	log_say(LOG_WARNING, "%s", note);
}

static enum ending wait(void *context, int pidfd, uint64_t time_ns)
{
	const struct tracing *self = context;
	struct pollfd fds[] = { { self->stop, POLLIN, 0 }, { pidfd, POLLIN, 0 } };

	poll(fds, ARRAY_SIZE(fds), (int)MIN(time_ns / 1000000 + 1, 1000ull));
	if (fds[0].revents)
		return ENDING_SIGNAL;
	return fds[1].revents ? ENDING_EXIT : ENDING_DURATION;
}

static void set(struct tracing *self, bool *what)
{
	pthread_mutex_lock(&self->lock);
	*what = true;
	pthread_cond_signal(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

static void begun(void *context)
{
	struct tracing *self = context;

	set(self, &self->has_begun);
}

static void *run(void *argument)
{
	struct tracing *self = argument;
	struct results results;

	if (!profiling_run(&self->job, &results, &self->err))
		self->err.code = 0;
	set(self, &self->is_done);
	return NULL;
}

static rocattach_status_t refuse(const struct err *err, struct outcome *outcome)
{
	struct limpet_error error = LIMPET_ERROR_INIT;

	error.code = err->code;
	error.exit_code = (int)err->exit;
	snprintf(error.what, sizeof(error.what), "%s", err->what);
	snprintf(error.why, sizeof(error.why), "%s", err->why);
	snprintf(error.fix, sizeof(error.fix), "%s", err->fix);
	return outcome_set_error(outcome, &error);
}

static void release(struct tracing *self)
{
	if (self->stop >= 0)
		close(self->stop);
	tool_list_free(&self->tools);
	profile_done(&self->profile);
	pthread_mutex_destroy(&self->lock);
	pthread_cond_destroy(&self->changed);
	free(self);
}

static int copy_tools(struct tracing *self, const struct tool_list *tools, struct err *err)
{
	for (size_t i = 0; i < tools->count; i++) {
		self->tools.items[i] = strdup(tools->items[i]);
		if (!self->tools.items[i])
			return err_set(err, -ENOMEM, "memory for the names of tools");
		self->tools.count++;
	}
	return 0;
}

static int prepare(struct tracing *self, const struct tool_list *tools, struct err *err)
{
	int r = environment_read(&self->profile, environ, say_note, NULL, err);

	if (!r)
		r = profile_finish(&self->profile, err);
	if (!r)
		r = copy_tools(self, tools, err);
	self->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r && self->stop < 0)
		r = err_set(err, -errno, "eventfd: %s", strerror(errno));
	self->job.tools = (const char *const *)self->tools.items;
	self->job.tool_count = self->tools.count;
	return r;
}

static int start(struct tracing *self, struct err *err)
{
	int r = quiet_thread(&self->thread, run, self);

	return r ? err_set(err, r, "a thread for tracing: %s", strerror(-r)) : 0;
}

/* 0 when it has begun; a job that is done before that has failed. */
static int wait_for_begin(struct tracing *self, struct err *err)
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

rocattach_status_t tracing_begin(struct tracing **ret, int pid, bool with_children,
				 const struct tool_list *tools, struct outcome *outcome)
{
	struct tracing *self = calloc(1, sizeof(*self));
	struct err err = { 0 };
	int r;

	if (!self)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR, "out of memory");
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->changed, NULL);
	self->stop = -1;
	profile_init(&self->profile);
	self->profile.has_children = with_children;
	self->face = (struct face){ say, wait, begun, say_file, self };
	self->job = (struct profiling){ .pid = pid,
					.duration_ns = UINT64_MAX,
					.profile = &self->profile,
					.face = &self->face };
	r = prepare(self, tools, &err);
	if (!r)
		r = start(self, &err);
	if (!r)
		r = wait_for_begin(self, &err);
	if (r) {
		refuse(&err, outcome);
		release(self);
		return outcome->status;
	}
	*ret = self;
	return outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
}

rocattach_status_t tracing_end(struct tracing *self, struct outcome *outcome)
{
	uint64_t one = 1;

	outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
	if (write(self->stop, &one, sizeof(one)) < 0)
		log_say(LOG_TRACE, "it was told to end already");
	pthread_join(self->thread, NULL);
	if (self->err.code)
		refuse(&self->err, outcome);
	release(self);
	return outcome->status;
}

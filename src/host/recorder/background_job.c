/*
 * Runs a job on a thread of its own.  The thread blocks all signals; its owner waits for its start
 * and for its end.
 */
#include "host/recorder/record_job.h"

#include "host/core/threads/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct background_job {
	struct recorder *recorder;
	struct record_job job;
	int stop; /* readable: the job shall end */
	struct err err;

	struct worker worker; /* its lock guards what follows */
	bool is_ready;
	struct background_state state;
};

static enum ending background_wait(void *context, const struct job_wait *wait)
{
	const struct background_job *self = context;
	struct pollfd fds[] = { { self->stop, POLLIN, 0 },
				{ wait->end, POLLIN, 0 },
				{ wait->socket, POLLRDHUP, 0 } };

	poll(fds, ARRAY_SIZE(fds), (int)((wait->time_ns + 999999) / 1000000));
	if (fds[0].revents)
		return ENDING_SIGNAL;
	return fds[1].revents ? ENDING_EXIT : ENDING_DURATION;
}

/* Only the job's thread may query the recorder. */
static void background_note(struct background_job *self, bool is_running)
{
	struct sampling *sampling = recorder_sampling(self->recorder);
	struct background_state state = { .is_running = is_running,
					  .has_ended = self->job.ending == ENDING_EXIT,
					  .is_full = self->job.is_full,
					  .ending = self->job.ending,
					  .turns = self->job.turns,
					  .sampled = { .sampler = "", .summary = "" },
					  .bytes = recorder_file_bytes(self->recorder) };

	if (!is_running)
		state.err = self->err;
	if (sampling) {
		sampling_totals(sampling, &state.sampled);
		state.has_ended |= state.sampled.has_ended;
	}
	recorder_totals(self->recorder, &state.traced);
	worker_lock(&self->worker);
	self->state = state;
	worker_notify(&self->worker);
	worker_unlock(&self->worker);
}

static int background_ready(void *context, struct err *err)
{
	struct background_job *self = context;

	(void)err;
	background_note(self, /* is_running */ true);
	worker_lock(&self->worker);
	self->is_ready = true;
	worker_notify(&self->worker);
	worker_unlock(&self->worker);
	return 0;
}

static void background_looked(void *context)
{
	background_note(context, /* is_running */ true);
}

static void *background_run(void *argument)
{
	struct background_job *self = argument;

	if (!record_job_run(&self->job, &self->err))
		self->err.code = 0;
	background_note(self, /* is_running */ false);
	return NULL;
}

static void background_free(struct background_job *self)
{
	recorder_free(self->recorder, /* keeps_files */ true);
	if (self->stop >= 0)
		close(self->stop);
	worker_done(&self->worker);
	free(self);
}

static int background_open(struct background_job *self, const struct background_options *options,
			   struct err *err)
{
	int r = recorder_open(&self->recorder, &options->recorder, err);

	if (r)
		return r;
	self->job = (struct record_job){
		.recorder = self->recorder,
		.times = options->times,
		.unload = options->unload,
		.watcher = { .wait = background_wait,
			     .ready = background_ready,
			     .looked = background_looked,
			     .context = self },
	};
	self->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (self->stop < 0)
		return err_set(err, -errno, "eventfd: %s", strerror(errno));
	self->state = (struct background_state){ .is_running = true,
						 .ending = ENDING_DURATION,
						 .sampled = { .sampler = "", .summary = "" } };
	r = worker_start(&self->worker, background_run, self);
	return r ? err_set(err, r, "a thread for the recording: %s", strerror(-r)) : 0;
}

/* 0 when the job has begun; a job that ends before that has failed. */
static int background_await(struct background_job *self, struct err *err)
{
	bool is_ready;

	worker_lock(&self->worker);
	while (!self->is_ready && self->state.is_running)
		worker_wait(&self->worker);
	is_ready = self->is_ready;
	worker_unlock(&self->worker);
	if (is_ready)
		return 0;
	worker_stop(&self->worker);
	*err = self->err;
	return err->code ? err->code : err_set(err, -EIO, "it ended before it began");
}

int background_job_start(struct background_job **ret, const struct background_options *options,
			 struct err *err)
{
	struct background_job *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for the recording");
	self->stop = -1;
	worker_init(&self->worker);
	r = background_open(self, options, err);
	if (!r)
		r = background_await(self, err);
	if (r)
		background_free(self);
	else
		*ret = self;
	return r;
}

void background_job_query(struct background_job *self, struct background_state *ret)
{
	worker_lock(&self->worker);
	*ret = self->state;
	worker_unlock(&self->worker);
}

/* The job's sampling exists for as long as the job. */
bool background_job_python_thread(struct background_job *self, pid_t pid, pid_t tid,
				  struct watched_thread *ret)
{
	struct sampling *sampling = recorder_sampling(self->recorder);

	return sampling && sampling_python_thread(sampling, pid, tid, ret);
}

void background_job_halt(struct background_job *self)
{
	eventfd_write(self->stop, 1);
	worker_stop(&self->worker);
}

int background_job_stop(struct background_job *self, bool gives_up, struct recorder_outcome *ret,
			struct err *err)
{
	struct err second = { 0 };
	int r, ended;

	background_job_halt(self);
	r = self->err.code;
	if (r)
		*err = self->err;
	ended = recorder_end(self->recorder, gives_up, ret, r ? &second : err);
	background_free(self);
	return r ? r : ended;
}

/*
 * Reads the recordings of live sessions so far.
 */
#include "host/ui/session/calls.h"

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/ui/session/live_job.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The pause between two readings: at least the first, and this many times the last one's
 * duration. */
#define REST_NS     UINT64_C(1000000000)
#define REST_FACTOR 10u

static void state_free(struct calls_state *state)
{
	for (unsigned i = 0; i < UI_CALL_KINDS; i++)
		call_samples_done(&state->samples[i]);
	spans_done(&state->spans);
	model_free(state->model);
	*state = (struct calls_state){ 0 };
}

static void *calls_read(void *argument)
{
	struct calls *self = argument;
	struct calls_state *next = &self->next;

	if (model_open_fd(self->file, "recording", &next->model, &self->read_err)) {
		next->model = NULL;
	} else if (spans_load(&next->spans, next->model,
			      self->origin_ns + (next->model->first.boot_ns -
						 next->model->first.monotonic_ns))) {
		err_set(&self->read_err, -ENOMEM, "calls: no memory");
		state_free(next);
	}
	self->took_ns = now_ns() - self->began_ns;
	self->is_read = true;
	return NULL;
}

/* After a failed reading the shown calls stay. */
static void calls_take(struct calls *self)
{
	pthread_join(self->reading, NULL);
	self->is_reading = false;
	self->err = self->read_err;
	self->rests_until_ns = self->began_ns + REST_NS + self->took_ns * REST_FACTOR;
	if (!self->next.model)
		return;
	state_free(&self->shown);
	self->shown = self->next;
	self->next = (struct calls_state){ 0 };
}

static void calls_begin(struct calls *self, const struct live_job *job, uint64_t bytes)
{
	self->began_ns = now_ns();
	self->next.bytes = bytes;
	self->is_read = false;
	self->read_err = (struct err){ 0 };
	self->file = live_job_file(job);
	if (self->file < 0) {
		err_set(&self->err, self->file, "calls: %s", strerror(-self->file));
		return;
	}
	self->is_reading = !quiet_thread(&self->reading, calls_read, self);
	if (self->is_reading)
		return;
	err_set(&self->err, -EAGAIN, "calls: no thread to read them");
	close(self->file);
}

void calls_follow(struct calls *self, const struct live_job *job, uint64_t bytes,
		  uint64_t origin_ns)
{
	if (self->is_reading && self->is_read)
		calls_take(self);
	self->origin_ns = origin_ns;
	if (job && !self->is_reading && bytes > self->shown.bytes &&
	    now_ns() >= self->rests_until_ns)
		calls_begin(self, job, bytes);
}

void calls_done(struct calls *self)
{
	if (self->is_reading)
		pthread_join(self->reading, NULL);
	state_free(&self->shown);
	state_free(&self->next);
	*self = (struct calls){ 0 };
}

/*
 * Reads the recordings of live sessions so far.
 */
#include "host/live/calls/calls.h"

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/live/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The pause between two readings: at least the first, and this many times the last one's
 * duration. */
#define REST_NS     UINT64_C(1000000000)
#define REST_FACTOR 10u

static void state_free(struct calls_state *state, bool is_borrowed)
{
	for (unsigned i = 0; i < CALL_WEIGHTS; i++)
		call_samples_done(&state->samples[i]);
	spans_done(&state->spans);
	if (!is_borrowed)
		model_free(state->model);
	*state = (struct calls_state){ 0 };
}

static uint64_t boot_origin_ns(const struct calls *self, const struct model *model)
{
	return self->origin_ns + (model->first.boot_ns - model->first.monotonic_ns);
}

uint64_t calls_origin_ns(const struct calls *self)
{
	return self->shown.model ? boot_origin_ns(self, self->shown.model) : 0;
}

void calls_borrow(struct calls *self, struct model *model, uint64_t origin_ns)
{
	*self = (struct calls){ .shown.model = model, .is_borrowed = true, .origin_ns = origin_ns };
}

int calls_load(struct calls *self)
{
	return self->is_borrowed
		       ? spans_load(&self->shown.spans, self->shown.model, calls_origin_ns(self))
		       : 0;
}

static void *calls_read(void *argument)
{
	struct calls *self = argument;
	struct calls_state *next = &self->next;

	if (model_open_fd(self->file, "recording", &next->model, &self->read_err)) {
		next->model = NULL;
	} else if (spans_load(&next->spans, next->model, boot_origin_ns(self, next->model))) {
		err_set(&self->read_err, -ENOMEM, "calls: no memory");
		state_free(next, /* is_borrowed */ false);
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
	state_free(&self->shown, /* is_borrowed */ false);
	self->shown = self->next;
	self->next = (struct calls_state){ 0 };
}

static void calls_begin(struct calls *self, const struct source *source, uint64_t bytes)
{
	self->began_ns = now_ns();
	self->next.bytes = bytes;
	self->is_read = false;
	self->read_err = (struct err){ 0 };
	self->file = source_file(source);
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

void calls_follow(struct calls *self, const struct source *source, uint64_t bytes)
{
	if (self->is_reading && self->is_read)
		calls_take(self);
	if (!self->is_reading && bytes > self->shown.bytes && now_ns() >= self->rests_until_ns)
		calls_begin(self, source, bytes);
}

struct store *calls_samples(struct calls *self, enum call_weight weight)
{
	struct store *samples = &self->shown.samples[weight];
	const struct calls_read read = { self->shown.model, &self->shown.spans, &self->names,
					 self->origin_ns };

	if (samples->model || !self->shown.model)
		return samples;
	return call_samples_make(samples, &read, weight) ? NULL : samples;
}

void calls_done(struct calls *self)
{
	if (self->is_reading)
		pthread_join(self->reading, NULL);
	state_free(&self->shown, self->is_borrowed);
	state_free(&self->next, /* is_borrowed */ false);
	call_names_done(&self->names);
	*self = (struct calls){ 0 };
}

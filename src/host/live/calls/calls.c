/*
 * Follows the recordings of live sessions.
 */
#include "host/live/calls/calls.h"

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/live/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pause between two readings: at least the first, and this many times the last one's
 * duration. */
#define REST_NS     UINT64_C(1000000000)
#define REST_FACTOR 10u

uint64_t calls_origin_ns(const struct calls *self, const struct model *model)
{
	return model ? self->origin_ns + (model->first.boot_ns - model->first.monotonic_ns) : 0;
}

static uint32_t domains_of(const struct model *model)
{
	uint32_t domains = 0;

	for (uint32_t i = 0; i < model->process_count; i++)
		for (uint32_t j = 0; j < model->processes[i]->function_count; j++)
			domains |= 1u << model->processes[i]->functions[j].domain;
	return domains;
}

void calls_borrow(struct calls *self, struct model *model, uint64_t origin_ns)
{
	*self = (struct calls){ .model = model,
				.is_borrowed = true,
				.origin_ns = origin_ns,
				.domains = domains_of(model) };
}

int calls_load(struct calls *self)
{
	return self->is_borrowed
		       ? spans_load(&self->spans, self->model, calls_origin_ns(self, self->model))
		       : 0;
}

struct model *calls_hold(struct calls *self)
{
	if (!self->is_borrowed && !self->bytes)
		return NULL;
	pthread_mutex_lock(&self->lock);
	return self->model;
}

void calls_release(struct calls *self)
{
	pthread_mutex_unlock(&self->lock);
}

/* With the lock. */
static int recording_follow(struct calls *self, struct err *err)
{
	int r;

	if (!self->model)
		return model_open_fd(self->file, "recording", &self->model, err);
	r = model_follow(self->model);
	return r ? err_set(err, r, "read the recording: %s", strerror(-r)) : 0;
}

static void *calls_read(void *argument)
{
	struct calls *self = argument;
	struct calls_read_state *next = &self->next;

	pthread_mutex_lock(&self->lock);
	if (!recording_follow(self, &next->err)) {
		next->domains = domains_of(self->model);
		if (spans_load(&next->spans, self->model, calls_origin_ns(self, self->model)))
			err_set(&next->err, -ENOMEM, "calls: no memory");
	}
	pthread_mutex_unlock(&self->lock);
	next->took_ns = now_ns() - next->began_ns;
	self->is_read = true;
	return NULL;
}

/* After a failed reading the shown calls stay. */
static void follow_end(struct calls *self)
{
	struct calls_read_state *read = &self->next;

	pthread_join(self->reading, NULL);
	self->is_reading = false;
	self->err = read->err;
	self->rests_until_ns = read->began_ns + REST_NS + read->took_ns * REST_FACTOR;
	if (read->err.code)
		return;
	for (unsigned i = 0; i < CALL_WEIGHTS; i++)
		call_samples_done(&self->samples[i]);
	spans_done(&self->spans);
	self->spans = read->spans;
	self->bytes = read->bytes;
	self->domains = read->domains;
}

static void read_free(struct calls *self)
{
	for (unsigned i = 0; i < CALL_WEIGHTS; i++)
		call_samples_done(&self->samples[i]);
	spans_done(&self->spans);
	if (!self->is_borrowed)
		model_free(self->model);
	call_names_done(&self->names);
}

/* Opens the file to be read from its beginning; -1: the one that the model has, or self->err.  The
 * recorder replaces an existing recording only when it has data: until then the name leads to the
 * old one, which is forgotten then. */
static int file_open(struct calls *self, const struct source *source)
{
	struct stat facts = { 0 };
	int file = source_file(source);

	if (file >= 0 && (fstat(file, &facts) < 0 || (self->model && facts.st_dev == self->device &&
						      facts.st_ino == self->inode))) {
		close(file);
		return -1;
	}
	if (file < 0) {
		err_set(&self->err, file, "calls: %s", strerror(-file));
		return -1;
	}
	read_free(self);
	self->spans = (struct spans){ 0 };
	self->names = (struct call_names){ 0 };
	self->model = NULL;
	self->bytes = self->domains = 0;
	self->device = facts.st_dev;
	self->inode = facts.st_ino;
	return file;
}

static void follow_start(struct calls *self, const struct source *source, uint64_t bytes)
{
	self->next = (struct calls_read_state){ .bytes = bytes, .began_ns = now_ns() };
	self->is_read = false;
	self->file = file_open(self, source);
	if (!self->model && self->file < 0)
		return;
	self->is_reading = !quiet_thread(&self->reading, calls_read, self);
	if (self->is_reading)
		return;
	err_set(&self->err, -EAGAIN, "calls: no thread to read them");
	if (self->file >= 0)
		close(self->file);
}

void calls_follow(struct calls *self, const struct source *source, uint64_t bytes)
{
	if (self->is_reading && self->is_read)
		follow_end(self);
	if (!self->is_reading && bytes > self->bytes && now_ns() >= self->rests_until_ns)
		follow_start(self, source, bytes);
}

struct store *calls_samples(struct calls *self, enum call_weight weight)
{
	struct store *samples = &self->samples[weight];
	struct calls_read read = { .spans = &self->spans,
				   .names = &self->names,
				   .origin_ns = self->origin_ns };
	int r;

	if (samples->model || !(read.model = calls_hold(self)))
		return samples;
	r = call_samples_make(samples, &read, weight);
	calls_release(self);
	return r ? NULL : samples;
}

void calls_done(struct calls *self)
{
	if (self->is_reading) {
		pthread_join(self->reading, NULL);
		spans_done(&self->next.spans);
	}
	read_free(self);
	*self = (struct calls){ 0 };
}

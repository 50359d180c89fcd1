/*
 * Samplers of the C API.
 */
#include "host/api/sampler_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SAMPLES     4096u
#define BUFFER_SAMPLES_MAX (1u << 20)

static struct limpet_sampler_options known_options(const struct limpet_sampler_options *given)
{
	struct limpet_sampler_options options = { sizeof(options) };

	if (given)
		memcpy(&options, given, MIN(given->struct_size, sizeof(options)));
	if (!options.rate_hz)
		options.rate_hz = SAMPLING_HZ;
	if (!options.buffer_samples)
		options.buffer_samples = BUFFER_SAMPLES;
	return options;
}

static struct sampling_options sampling_options_of(struct limpet_sampler *self,
						   const struct limpet_sampler_options *options)
{
	return (struct sampling_options){
		.sampler = { .pid = self->pid,
			     .hz = options->rate_hz,
			     .on_cpu = true,
			     .off_cpu = options->flags & LIMPET_OFF_CPU,
			     .kernel_frames = !(options->flags & LIMPET_NO_KERNEL),
			     .children = options->flags & LIMPET_CHILDREN },
		.name = self->sampler_name,
		.observe = sampler_keep,
		.context = self,
	};
}

static bool copy_text(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

static int sampler_prepare(struct limpet_sampler *self,
			   const struct limpet_sampler_options *options, struct err *err)
{
	int r = sampler_check_rate(options->rate_hz, err);

	if (!r && options->buffer_samples > BUFFER_SAMPLES_MAX)
		r = err_set(err, -EINVAL, "a buffer for %zu samples is too large",
			    options->buffer_samples);
	if (r)
		return r;
	self->names.codes = code_list_new();
	if (!self->names.codes || sample_ring_init(&self->ring, options->buffer_samples) ||
	    !copy_text(&self->sampler_name, options->sampler) ||
	    !copy_text(&self->path, options->path))
		return err_set(err, -ENOMEM, "no memory for a sampler");
	self->on_sample = options->on_sample;
	self->context = options->context;
	self->options = sampling_options_of(self, options);
	self->rate_hz = options->rate_hz;
	self->totals.sampler = self->totals.summary = "";
	return 0;
}

static void free_sampler(struct limpet_sampler *self)
{
	sample_ring_done(&self->ring);
	thread_names_done(&self->thread_names);
	code_list_free(self->names.codes);
	pthread_mutex_destroy(&self->names.lock);
	pthread_mutex_destroy(&self->turn);
	pthread_mutex_destroy(&self->lock);
	free(self->sampler_name);
	free(self->path);
	free(self);
}

EXPORT struct limpet_sampler *limpet_sampler_open(struct limpet *target,
						  const struct limpet_sampler_options *given,
						  struct limpet_error *error)
{
	struct limpet_sampler_options options = known_options(given);
	struct limpet_sampler *self = calloc(1, sizeof(*self));
	struct err err = { 0 };

	if (!target || !self) {
		err_set(&err, self ? -EINVAL : -ENOMEM,
			self ? "no process to sample" : "no memory for a sampler");
		free(self);
		api_report(&err, error);
		return NULL;
	}
	self->pid = target->pid;
	self->start_tick = target->start_tick;
	pthread_mutex_init(&self->names.lock, NULL);
	pthread_mutex_init(&self->turn, NULL);
	pthread_mutex_init(&self->lock, NULL);
	if (sampler_prepare(self, &options, &err)) {
		free_sampler(self);
		self = NULL;
	}
	api_report(&err, error);
	return self;
}

/* A callback that waited for its own end would wait for ever. */
static int take_turn(struct limpet_sampler *self, struct err *err)
{
	if (!self)
		return err_set(err, -EINVAL, "no sampler");
	if (__atomic_load_n(&self->teller_tid, __ATOMIC_RELAXED) == gettid())
		return err_set(err, -EDEADLK, "a callback cannot do that to its own sampler");
	pthread_mutex_lock(&self->turn);
	return 0;
}

EXPORT int limpet_sampler_start(struct limpet_sampler *self, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!take_turn(self, &err)) {
		(void)!sampler_start(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_stop(struct limpet_sampler *self, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!take_turn(self, &err)) {
		(void)!sampler_stop(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_set_rate(struct limpet_sampler *self, unsigned rate_hz,
				   struct limpet_error *error)
{
	struct err err = { 0 };

	if (!take_turn(self, &err)) {
		(void)!sampler_change_rate(self, rate_hz, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT long limpet_sampler_read(struct limpet_sampler *self, size_t count,
				limpet_sample_visitor *visit, void *context,
				struct limpet_error *error)
{
	struct kept_sample **kept = NULL;
	struct err err = { 0 };

	if (!self || !visit) {
		err_set(&err, -EINVAL, "the sampler and the visitor must not be NULL");
		return api_report(&err, error);
	}
	count = MIN(count, self->ring.room);
	kept = calloc(count + 1, sizeof(struct kept_sample *));
	if (!kept)
		err_set(&err, -ENOMEM, "no memory for %zu samples", count);
	count = kept ? sample_ring_last(&self->ring, count, kept) : 0;
	for (size_t i = 0; i < count; i++) {
		visit(&kept[i]->seen, context);
		sample_ring_release(&self->ring, kept[i]);
	}
	free(kept);
	return api_report(&err, error) ? err.code : (long)count;
}

static void fill_status(struct limpet_sampler *self, struct limpet_sampler_status *ret)
{
	struct sampling_totals totals;

	pthread_mutex_lock(&self->lock);
	totals = self->totals;
	memcpy(ret->reasons, self->reasons, sizeof(ret->reasons));
	if (self->sampling) {
		sampling_totals(self->sampling, &totals);
		sampling_reasons(self->sampling, ret->reasons, sizeof(ret->reasons));
		ret->is_running = sampling_goes_on(self->sampling);
	}
	ret->rate_hz = self->rate_hz;
	pthread_mutex_unlock(&self->lock);
	ret->samples = totals.counts.samples;
	ret->complete = totals.counts.ends[STACK_COMPLETE];
	ret->lost = totals.counts.lost;
	ret->one_in = MAX(totals.counts.throttled, 1u);
	ret->overwritten = sample_ring_overwritten(&self->ring);
	snprintf(ret->sampler, sizeof(ret->sampler), "%s", totals.sampler);
	snprintf(ret->summary, sizeof(ret->summary), "%s", totals.summary);
}

EXPORT int limpet_sampler_status(struct limpet_sampler *self, struct limpet_sampler_status *status,
				 struct limpet_error *error)
{
	struct limpet_sampler_status ours = { 0 };
	struct err err = { 0 };

	if (!self) {
		err_set(&err, -EINVAL, "no sampler");
	} else {
		fill_status(self, &ours);
		api_copy_out(status, &ours, sizeof(ours));
	}
	return api_report(&err, error);
}

EXPORT void limpet_sampler_close(struct limpet_sampler *self)
{
	struct err err = { 0 };

	if (!self || take_turn(self, &err))
		return;
	if (self->is_started)
		(void)!sampler_stop(self, &err);
	if (self->sampling)
		sampling_free(self->sampling);
	pthread_mutex_unlock(&self->turn);
	free_sampler(self);
}

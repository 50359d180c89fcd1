/*
 * Samplers of the C API: the recorder, with or without a file, fills a live store.
 */
#include "host/api/sampler.h"

#include "host/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SAMPLES     4096u
#define BUFFER_SAMPLES_MAX (1u << 20)

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
	self->room = options->buffer_samples;
	/* The store drops samples in eighths. */
	r = live_new(&self->live, self->pid,
		     &(struct live_limits){ .samples = self->room + self->room / 7 + 8,
					    .stacks = UINT32_MAX,
					    .frames = UINT32_MAX,
					    .threads = UINT32_MAX },
		     err);
	if (r)
		return r;
	live_name_on_request(self->live);
	if (!copy_text(&self->sampler_name, options->sampler) ||
	    !copy_text(&self->path, options->path))
		return err_set(err, -ENOMEM, "no memory for a sampler");
	self->on_sample = options->on_sample;
	self->context = options->context;
	self->options = sampling_options_of(self, options);
	live_observe(self->live, &self->options);
	self->rate_hz = options->rate_hz;
	self->totals.sampler = self->totals.summary = "";
	return 0;
}

static void free_sampler(struct limpet_sampler *self)
{
	recorder_free(self->recorder, /* keeps_files */ true);
	live_free(self->live);
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
	struct limpet_sampler_options options = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_sampler *self = calloc(1, sizeof(*self));
	struct err err = { 0 };

	api_copy_in(&options, given, sizeof(options));
	if (!options.rate_hz)
		options.rate_hz = SAMPLING_HZ;
	if (!options.buffer_samples)
		options.buffer_samples = BUFFER_SAMPLES;
	if (!target || !self) {
		err_set(&err, self ? -EINVAL : -ENOMEM,
			self ? "no process to sample" : "no memory for a sampler");
		free(self);
		api_report(&err, error);
		return NULL;
	}
	self->pid = target->pid;
	self->start_tick = target->start_tick;
	pthread_mutex_init(&self->turn, NULL);
	pthread_mutex_init(&self->lock, NULL);
	if (sampler_prepare(self, &options, &err)) {
		free_sampler(self);
		self = NULL;
	}
	api_report(&err, error);
	return self;
}

int sampler_check_rate(unsigned hz, struct err *err)
{
	if (hz && hz <= SAMPLING_HZ_MAX)
		return 0;
	err_set(err, -EINVAL, "%u samples a second are not possible", hz);
	err_fix(err, "a rate of 1 to %u", SAMPLING_HZ_MAX);
	return err_exit(err, EXIT_USAGE);
}

/* The number alone may be another process's by now. */
static int check_process(const struct limpet_sampler *self, struct err *err)
{
	struct process_stat stat;
	int r = stat_read(self->pid, 0, &stat, err);

	if (r || (stat.start_tick == self->start_tick && stat.state != 'Z' && stat.state != 'X'))
		return r;
	err_set(err, -ESRCH, "process %d has ended", self->pid);
	return err_exit(err, EXIT_NO_PROCESS);
}

static int open_recorder(struct limpet_sampler *self, struct err *err)
{
	const struct recorder_options options = { .pids = &self->pid,
						  .pid_count = 1,
						  .has_children = self->options.sampler.children,
						  .sampling = &self->options,
						  .path = self->path,
						  .version = LIMPET_VERSION };
	int r = recorder_open(&self->recorder, &options, err);

	if (r)
		return r;
	pthread_mutex_lock(&self->lock);
	self->sampling = recorder_sampling(self->recorder);
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* Keeps the counts of the sampling that ended. */
static void forget_sampling(struct limpet_sampler *self)
{
	pthread_mutex_lock(&self->lock);
	if (self->sampling)
		sampling_totals(self->sampling, &self->totals);
	self->sampling = NULL;
	pthread_mutex_unlock(&self->lock);
}

static int end_recording(struct limpet_sampler *self, bool gives_up, struct err *err)
{
	struct recorder_outcome ignored;
	int r = recorder_end(self->recorder, gives_up, &ignored, err);

	recorder_free(self->recorder, /* keeps_files */ true);
	self->recorder = NULL;
	return r;
}

static int begin_sampling(struct limpet_sampler *self, struct err *err)
{
	struct err ignored = { 0 };
	int r = self->recorder ? 0 : open_recorder(self, err);

	if (r)
		return r;
	r = recorder_begin(self->recorder, err);
	if (r) {
		forget_sampling(self);
		(void)!end_recording(self, /* gives_up */ true, &ignored);
	}
	return r;
}

static int sampler_start(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (self->is_started)
		return err_set(err, -EALREADY, "process %d is sampled already", self->pid);
	if (self->is_recorded)
		return err_set(err, -EALREADY, "the recording of process %d is finished",
			       self->pid);
	r = check_process(self, err);
	if (!r)
		r = sampler_start_callbacks(self, err);
	if (!r)
		r = begin_sampling(self, err);
	if (r)
		sampler_stop_callbacks(self);
	self->is_started = !r;
	return r;
}

static int sampler_stop(struct limpet_sampler *self, struct err *err)
{
	struct err second = { 0 };
	int r;

	if (!self->is_started)
		return err_set(err, -EALREADY, "process %d is not sampled", self->pid);
	self->is_started = false;
	sampling_pause(self->sampling);
	sampler_stop_callbacks(self);
	r = sampling_check(self->sampling, err);
	if (!self->path)
		return r;
	self->is_recorded = true;
	forget_sampling(self);
	return end_recording(self, r != 0, r ? &second : err) ? err->code : r;
}

static int sampler_change_rate(struct limpet_sampler *self, unsigned hz, struct err *err)
{
	int r = sampler_check_rate(hz, err);

	if (r)
		return r;
	self->options.sampler.hz = hz;
	pthread_mutex_lock(&self->lock);
	self->rate_hz = hz;
	pthread_mutex_unlock(&self->lock);
	if (!self->sampling)
		return 0;
	if (self->is_started)
		sampling_pause(self->sampling);
	sampling_set_rate(self->sampling, hz);
	if (!self->is_started)
		return 0;
	r = check_process(self, err);
	return r ? r : sampling_start(self->sampling, err);
}

/* A callback that waited for its own end would wait for ever. */
static int turn_acquire(struct limpet_sampler *self, struct err *err)
{
	if (!self)
		return err_set(err, -EINVAL, "no sampler");
	if (__atomic_load_n(&self->callback_tid, __ATOMIC_RELAXED) == gettid())
		return err_set(err, -EDEADLK, "a callback cannot do that to its own sampler");
	pthread_mutex_lock(&self->turn);
	return 0;
}

EXPORT int limpet_sampler_start(struct limpet_sampler *self, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!turn_acquire(self, &err)) {
		(void)!sampler_start(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_stop(struct limpet_sampler *self, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!turn_acquire(self, &err)) {
		(void)!sampler_stop(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_set_rate(struct limpet_sampler *self, unsigned rate_hz,
				   struct limpet_error *error)
{
	struct err err = { 0 };

	if (!turn_acquire(self, &err)) {
		(void)!sampler_change_rate(self, rate_hz, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

static void fill_status(struct limpet_sampler *self, struct limpet_sampler_status *ret)
{
	struct sampling_totals totals;

	pthread_mutex_lock(&self->lock);
	totals = self->totals;
	if (self->sampling)
		sampling_totals(self->sampling, &totals);
	ret->is_running = self->sampling && totals.is_running;
	ret->rate_hz = self->rate_hz;
	pthread_mutex_unlock(&self->lock);
	snprintf(ret->reasons, sizeof(ret->reasons), "%s", totals.reasons);
	ret->samples = totals.counts.samples;
	ret->complete = totals.counts.ends[STACK_COMPLETE];
	ret->lost = totals.counts.lost;
	ret->one_in = MAX(totals.counts.throttled, 1u);
	ret->overwritten = sampler_overwritten(self);
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

	if (!self || turn_acquire(self, &err))
		return;
	if (self->is_started)
		(void)!sampler_stop(self, &err);
	pthread_mutex_unlock(&self->turn);
	free_sampler(self);
}

/*
 * Starts, stops and changes the sampling of a process, and the thread that calls back.
 */
#include "host/api/sampler_private.h"

#include "host/core/threads/quiet_thread.h"
#include "host/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void *call_back(void *argument)
{
	struct limpet_sampler *self = argument;
	struct kept_sample *kept;

	__atomic_store_n(&self->teller_tid, gettid(), __ATOMIC_RELAXED);
	while ((kept = sample_ring_next(&self->ring))) {
		self->on_sample(&kept->seen, self->context);
		sample_ring_release(&self->ring, kept);
	}
	__atomic_store_n(&self->teller_tid, 0, __ATOMIC_RELAXED);
	return NULL;
}

int sampler_start_teller(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (!self->on_sample)
		return 0;
	sample_ring_set_closed(&self->ring, false);
	r = quiet_thread(&self->teller, call_back, self);
	self->has_teller = !r;
	return r ? err_set(err, r, "start the thread that calls back: %s", strerror(-r)) : 0;
}

void sampler_end_teller(struct limpet_sampler *self)
{
	sample_ring_set_closed(&self->ring, true);
	if (self->has_teller)
		pthread_join(self->teller, NULL);
	self->has_teller = false;
}

/* With a recording the recorder has the sampling. */
static int make_sampling(struct limpet_sampler *self, struct err *err)
{
	struct recorder_options options = { .pids = &self->pid,
					    .pid_count = 1,
					    .has_children = self->options.sampler.children,
					    .sampling = &self->options,
					    .path = self->path,
					    .version = LIMPET_VERSION };
	struct sampling *made = NULL;
	int r = self->path ? recorder_open(&self->recorder, &options, err)
			   : sampling_new(&made, NULL, NULL, &self->options, err);

	if (r)
		return r;
	pthread_mutex_lock(&self->lock);
	self->sampling = self->recorder ? recorder_sampling(self->recorder) : made;
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* Keeps the counts of the sampling that ended. */
static void forget_sampling(struct limpet_sampler *self)
{
	pthread_mutex_lock(&self->lock);
	if (self->sampling) {
		sampling_totals(self->sampling, &self->totals);
		sampling_reasons(self->sampling, self->reasons, sizeof(self->reasons));
	}
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
	int r = self->sampling ? 0 : make_sampling(self, err);

	if (r)
		return r;
	r = self->recorder ? recorder_begin(self->recorder, err)
			   : sampling_start(self->sampling, err);
	if (r && self->recorder) {
		forget_sampling(self);
		(void)!end_recording(self, /* gives_up */ true, &ignored);
	}
	return r;
}

int sampler_start(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (self->is_started)
		return err_set(err, -EALREADY, "process %d is sampled already", self->pid);
	if (self->is_recorded)
		return err_set(err, -EALREADY, "the recording of process %d is finished",
			       self->pid);
	r = check_process(self, err);
	if (!r)
		r = sampler_start_teller(self, err);
	if (!r)
		r = begin_sampling(self, err);
	if (r)
		sampler_end_teller(self);
	self->is_started = !r;
	return r;
}

int sampler_stop(struct limpet_sampler *self, struct err *err)
{
	struct err second = { 0 };
	int r;

	if (!self->is_started)
		return err_set(err, -EALREADY, "process %d is not sampled", self->pid);
	self->is_started = false;
	sampling_pause(self->sampling);
	sampler_end_teller(self);
	r = sampling_check(self->sampling, err);
	if (!self->recorder)
		return r;
	self->is_recorded = true;
	forget_sampling(self);
	return end_recording(self, r != 0, r ? &second : err) ? err->code : r;
}

static void note_rate(struct limpet_sampler *self, unsigned hz)
{
	self->options.sampler.hz = hz;
	pthread_mutex_lock(&self->lock);
	self->rate_hz = hz;
	pthread_mutex_unlock(&self->lock);
}

int sampler_change_rate(struct limpet_sampler *self, unsigned hz, struct err *err)
{
	int r = sampler_check_rate(hz, err);

	if (r)
		return r;
	note_rate(self, hz);
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

/*
 * Samplers of the C API.  Three threads meet here: the caller's, the one that samples, and the one
 * that calls back.  The second never waits for the third: between them is the ring.
 */
#include "host/api/api.h"
#include "host/api/sample_ring.h"
#include "host/api/thread_names.h"
#include "host/core/clock.h"
#include "host/core/quiet_thread.h"
#include "host/process/stat.h"
#include "host/recorder/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SAMPLES     4096u
#define BUFFER_SAMPLES_MAX (1u << 20)
#define FOLLOW_NS          1000000000u /* what runtimes tell of their code is read so often */

struct limpet_sampler {
	pid_t pid;
	uint64_t start_tick;
	struct sampling_options options;
	char *rung, *path;
	limpet_sample_visitor *on_sample;
	void *context;
	struct sample_ring ring;

	/* The sampling thread's; the names also for whoever asks. */
	struct thread_names thread_names;
	struct stack_names names;
	uint64_t followed_ns;

	pthread_mutex_t turn;      /* of who starts and stops */
	struct recorder *recorder; /* with a path */
	bool is_started, is_recorded;

	pthread_t teller; /* calls back */
	bool has_teller;
	pid_t teller_tid; /* 0 while there is none; atomic */

	pthread_mutex_t lock; /* of what follows; never held for long */
	unsigned rate_hz;
	struct sampling *sampling;
	struct sampling_totals totals; /* when there is none any more */
	char reasons[sizeof(((struct limpet_sampler_status *)0)->reasons)];
};

static void fill(struct kept_sample *kept, const struct sample *sample, const char *thread_name)
{
	struct limpet_sample *seen = &kept->seen;

	seen->time_ns = sample->time_ns;
	seen->weight_ns = sample->weight_ns;
	seen->pid = (int)sample->pid;
	seen->tid = (int)sample->tid;
	seen->cpu = sample->cpu;
	seen->kind = (enum limpet_sample_kind)sample->kind;
	seen->state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R';
	seen->is_complete = sample->end == STACK_COMPLETE;
	seen->is_guessed = sample->flags & SAMPLE_GUESSED;
	seen->end = stack_end_name((enum stack_end)sample->end);
	snprintf(seen->thread_name, sizeof(seen->thread_name), "%s", thread_name);
}

/* Addresses become frames while it is known what is mapped where. */
static int find_frames(struct limpet_sampler *self, const struct sample *sample,
		       const struct space *space, struct recorded_frame *ret)
{
	uint64_t now = now_ns();
	int r;

	pthread_mutex_lock(&self->names.lock);
	code_list_at(self->names.codes, sample->time_ns);
	r = code_list_frames(self->names.codes, space, sample->pid, sample, ret);
	if (now - self->followed_ns >= FOLLOW_NS) {
		self->followed_ns = now;
		code_list_follow(self->names.codes);
	}
	pthread_mutex_unlock(&self->names.lock);
	return r;
}

static void keep_sample(void *context, const struct sample *sample, struct space *space)
{
	struct limpet_sampler *self = context;
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	struct kept_sample *kept;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return;
	kept = kept_sample_new(count);
	if (!kept || find_frames(self, sample, space, kept->frames)) {
		free(kept);
		return;
	}
	kept->stack.names = &self->names;
	fill(kept, sample,
	     thread_name_of(&self->thread_names, (pid_t)sample->pid, (pid_t)sample->tid));
	sample_ring_push(&self->ring, kept);
}

static int check_rate(unsigned hz, struct err *err)
{
	if (hz && hz <= SAMPLING_HZ_MAX)
		return 0;
	err_set(err, -EINVAL, "%u samples a second cannot be had", hz);
	err_fix(err, "a rate of 1 to %u", SAMPLING_HZ_MAX);
	return err_exit(err, EXIT_USAGE);
}

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
		.name = self->rung,
		.observe = keep_sample,
		.context = self,
	};
}

static bool copy_text(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

static int prepare(struct limpet_sampler *self, const struct limpet_sampler_options *options,
		   struct err *err)
{
	int r = check_rate(options->rate_hz, err);

	if (!r && options->buffer_samples > BUFFER_SAMPLES_MAX)
		r = err_set(err, -EINVAL, "a buffer for %zu samples is too large",
			    options->buffer_samples);
	if (r)
		return r;
	self->names.codes = code_list_new();
	if (!self->names.codes || sample_ring_init(&self->ring, options->buffer_samples) ||
	    !copy_text(&self->rung, options->rung) || !copy_text(&self->path, options->path))
		return err_set(err, -ENOMEM, "memory for a sampler");
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
	free(self->rung);
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
			self ? "no process to sample" : "memory for a sampler");
		free(self);
		api_report(&err, error);
		return NULL;
	}
	self->pid = target->pid;
	self->start_tick = target->start_tick;
	pthread_mutex_init(&self->names.lock, NULL);
	pthread_mutex_init(&self->turn, NULL);
	pthread_mutex_init(&self->lock, NULL);
	if (prepare(self, &options, &err)) {
		free_sampler(self);
		self = NULL;
	}
	api_report(&err, error);
	return self;
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

static int start_teller(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (!self->on_sample)
		return 0;
	sample_ring_set_closed(&self->ring, false);
	r = quiet_thread(&self->teller, call_back, self);
	self->has_teller = !r;
	return r ? err_set(err, r, "start the thread that calls back: %s", strerror(-r)) : 0;
}

static void end_teller(struct limpet_sampler *self)
{
	sample_ring_set_closed(&self->ring, true);
	if (self->has_teller)
		pthread_join(self->teller, NULL);
	self->has_teller = false;
}

/* With a recording the recorder has the sampling. */
static int make_sampling(struct limpet_sampler *self, struct err *err)
{
	struct recorder_options options = { .sampling = &self->options,
					    .path = self->path,
					    .version = LIMPET_VERSION };
	struct sampling *made = NULL;
	int r = self->path ? recorder_open(&self->recorder, self->pid, &options, err)
			   : sampling_new(&made, NULL, NULL, &self->options, err);

	if (r)
		return r;
	pthread_mutex_lock(&self->lock);
	self->sampling = self->recorder ? recorder_sampling(self->recorder) : made;
	pthread_mutex_unlock(&self->lock);
	return 0;
}

/* What it came to stays known. */
static void forget_sampling(struct limpet_sampler *self)
{
	pthread_mutex_lock(&self->lock);
	if (self->sampling)
		sampling_totals(self->sampling, &self->totals);
	self->sampling = NULL;
	pthread_mutex_unlock(&self->lock);
}

static void note_reasons(struct limpet_sampler *self)
{
	pthread_mutex_lock(&self->lock);
	snprintf(self->reasons, sizeof(self->reasons), "%s", sampling_reasons(self->sampling));
	pthread_mutex_unlock(&self->lock);
}

static int end_recording(struct limpet_sampler *self, bool gives_up, struct err *err)
{
	struct collect_totals totals;
	struct recorder *recorder = self->recorder;

	self->recorder = NULL;
	return recorder_end(recorder, gives_up, &totals, err);
}

static int begin_sampling(struct limpet_sampler *self, struct err *err)
{
	struct err ignored = { 0 };
	int r = self->sampling ? 0 : make_sampling(self, err);

	if (r)
		return r;
	r = self->recorder ? recorder_begin(self->recorder, err)
			   : sampling_start(self->sampling, err);
	if (!r) {
		note_reasons(self);
	} else if (self->recorder) {
		forget_sampling(self);
		(void)!end_recording(self, /* gives_up */ true, &ignored);
	}
	return r;
}

static int start_all(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (self->is_started)
		return err_set(err, -EALREADY, "process %d is sampled already", self->pid);
	if (self->is_recorded)
		return err_set(err, -EALREADY, "the recording of process %d is finished",
			       self->pid);
	r = check_process(self, err);
	if (!r)
		r = start_teller(self, err);
	if (!r)
		r = begin_sampling(self, err);
	if (r)
		end_teller(self);
	self->is_started = !r;
	return r;
}

static int stop_all(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (!self->is_started)
		return err_set(err, -EALREADY, "process %d is not sampled", self->pid);
	self->is_started = false;
	sampling_pause(self->sampling);
	end_teller(self);
	r = sampling_check(self->sampling, err);
	if (!self->recorder)
		return r;
	self->is_recorded = true;
	forget_sampling(self);
	return end_recording(self, r != 0, r ? &(struct err){ 0 } : err) ? err->code : r;
}

static void note_rate(struct limpet_sampler *self, unsigned hz)
{
	self->options.sampler.hz = hz;
	pthread_mutex_lock(&self->lock);
	self->rate_hz = hz;
	pthread_mutex_unlock(&self->lock);
}

static int change_rate(struct limpet_sampler *self, unsigned hz, struct err *err)
{
	int r = check_rate(hz, err);

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
	if (!r)
		r = sampling_start(self->sampling, err);
	if (!r)
		note_reasons(self);
	return r;
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
		(void)!start_all(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_stop(struct limpet_sampler *self, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!take_turn(self, &err)) {
		(void)!stop_all(self, &err);
		pthread_mutex_unlock(&self->turn);
	}
	return api_report(&err, error);
}

EXPORT int limpet_sampler_set_rate(struct limpet_sampler *self, unsigned rate_hz,
				   struct limpet_error *error)
{
	struct err err = { 0 };

	if (!take_turn(self, &err)) {
		(void)!change_rate(self, rate_hz, &err);
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
		err_set(&err, -EINVAL, "no sampler, or nobody to visit its samples");
		return api_report(&err, error);
	}
	count = MIN(count, self->ring.room);
	kept = calloc(count + 1, sizeof(struct kept_sample *));
	if (!kept)
		err_set(&err, -ENOMEM, "memory for %zu samples", count);
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
	if (self->sampling) {
		sampling_totals(self->sampling, &totals);
		ret->is_running = sampling_goes_on(self->sampling);
	}
	memcpy(ret->reasons, self->reasons, sizeof(ret->reasons));
	ret->rate_hz = self->rate_hz;
	pthread_mutex_unlock(&self->lock);
	ret->samples = totals.counts.samples;
	ret->complete = totals.counts.ends[STACK_COMPLETE];
	ret->lost = totals.counts.lost;
	ret->overwritten = sample_ring_overwritten(&self->ring);
	snprintf(ret->rung, sizeof(ret->rung), "%s", totals.sampler);
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
		(void)!stop_all(self, &err);
	if (self->sampling)
		sampling_free(self->sampling);
	pthread_mutex_unlock(&self->turn);
	free_sampler(self);
}

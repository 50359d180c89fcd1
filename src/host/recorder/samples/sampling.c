/*
 * Chooses a sampler, and runs the thread that samples.  Only that thread uses the sampler: it may
 * raise its own priority, and some kernel objects belong to the thread that made them.
 */
#include "host/recorder/samples/sampling.h"

#include "host/core/clock.h"
#include "host/core/threads/quiet_thread.h"
#include "host/process/jvm/jvm.h"
#include "host/process/stat.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS    25000000u
#define FLUSH_NS    50000000u
#define LOOK_NS     1000000000u
#define LAST_DRAINS 8
#define JUDGED      16u /* samples after which a sampler is judged */

enum phase { PHASE_OPENING, PHASE_RUNNING, PHASE_OVER };

struct sampling {
	struct recording *recording;
	struct sampling_options options;
	struct sample_writer *writer; /* NULL: nothing is recorded */
	struct python_watch *watch;
	struct sampler *sampler; /* used by the thread only */
	const struct sampler_kind *kind;
	struct sampler_refusals refusals; /* of better ones; used by the thread only */
	uint64_t start_tick;              /* of the process, for the request to a JVM */
	struct jvm_trace trace;           /* of the JVM's map file */
	struct sampler_counts before;     /* of earlier starts */
	uint64_t flushed_ns, looked_ns;
	struct err trouble; /* with a sample; used by the thread only */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	pthread_t thread;
	enum phase phase;
	bool is_running, is_asked_to_stop, has_ended;
	bool is_judged; /* the sampler was changed once; used by the thread only */
	struct sampling_totals totals;
	char reasons[SAMPLING_REASONS_MAX]; /* written by the thread only */
	struct err failure;
};

int sampling_new(struct sampling **ret, struct recording *recording, struct programs *programs,
		 const struct sampling_options *options, struct err *err)
{
	struct sampling *self = calloc(1, sizeof(*self));
	pthread_condattr_t attributes;
	int r = 0;

	if (!self)
		return err_set(err, -ENOMEM, "samples: no memory");
	self->watch = python_watch_new();
	if (!self->watch)
		r = err_set(err, -ENOMEM, "samples: no memory");
	if (!r && recording)
		r = sample_writer_new(&self->writer, recording, programs, err);
	if (r) {
		python_watch_free(self->watch);
		free(self);
		return r;
	}
	if (self->writer)
		sample_writer_use(self->writer, self->watch);
	self->recording = recording;
	self->options = *options;
	self->totals.sampler = self->totals.summary = "";
	pthread_mutex_init(&self->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&self->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	*ret = self;
	return 0;
}

/* Some limits of a sampler show later only, as when another program is executed. */
static void note_reasons(struct sampling *self)
{
	pthread_mutex_lock(&self->lock);
	sampler_explain(&self->refusals, self->sampler, self->reasons, sizeof(self->reasons));
	pthread_mutex_unlock(&self->lock);
}

static int open_sampler(struct sampling *self, struct err *err)
{
	const struct sampling_options *options = &self->options;
	int r = options->kind ? options->kind->open(&self->sampler, &options->sampler, err)
			      : sampler_choose(&self->sampler, &options->sampler, options->name,
					       &self->refusals, err);

	if (r) {
		if (r == -EPERM || r == -EACCES)
			err_exit(err, EXIT_NOT_PERMITTED);
		return options->sampler.is_system_wide
			       ? err_while(err, "sample every process")
			       : err_while(err, "sample %d", options->sampler.pid);
	}
	self->kind = self->sampler->kind;
	note_reasons(self);
	return 0;
}

static void take_sample(void *context, const struct sample *sample, struct space *space)
{
	struct sampling *self = context;

	if (!self->options.is_python_unwatched)
		python_watch_sample(self->watch, sample, space);
	if (self->options.observe && !self->trouble.code &&
	    self->options.observe(self->options.context, sample, space))
		err_set(&self->trouble, -ENOMEM, "samples: no memory");
	if (self->writer && !self->trouble.code)
		(void)!sample_writer_take(self->writer, sample, space, &self->trouble);
}

static void take_process(void *context, const struct sampled_process *process)
{
	struct sampling *self = context;

	python_watch_forget(self->watch, process->pid);
	if (self->options.observe_process && !self->trouble.code &&
	    self->options.observe_process(self->options.context, process))
		err_set(&self->trouble, -ENOMEM, "samples: no memory");
	if (self->writer && !self->trouble.code)
		(void)!sample_writer_process(self->writer, process, &self->trouble);
}

static void add_counts(struct sampler_counts *to, const struct sampler_counts *more)
{
	to->samples += more->samples;
	to->lost += more->lost;
	to->left_out += more->left_out;
	to->unlisted += more->unlisted;
	to->throttled = MAX(to->throttled, more->throttled);
	for (unsigned i = 0; i < STACK_ENDS; i++)
		to->ends[i] += more->ends[i];
}

static struct sampler_counts counts_now(const struct sampling *self)
{
	struct sampler_counts counts = self->before;

	if (self->sampler) {
		struct sampler_counts of_this = self->kind->counts(self->sampler);

		add_counts(&counts, &of_this);
	}
	return counts;
}

/* Writes what is sampled, and how much so far. */
static int write_totals(struct sampling *self, struct err *err)
{
	const struct sampler_options *options = &self->options.sampler;
	struct sampler_counts counts = counts_now(self);
	struct recorded_sampling sampling = {
		.sampler = self->kind ? self->kind->name : "",
		.reasons = self->reasons,
		.hz = options->hz,
		.flags = (options->on_cpu ? SAMPLING_ON_CPU : 0u) |
			 (options->off_cpu ? SAMPLING_OFF_CPU : 0u) |
			 (options->kernel_frames ? SAMPLING_KERNEL : 0u) |
			 (options->is_system_wide ? SAMPLING_SYSTEM_WIDE : 0u),
		.samples = counts.samples,
		.lost = counts.lost,
	};
	struct bytes bytes = { 0 };
	int r;

	if (!self->writer)
		return 0;
	memcpy(sampling.ends, counts.ends, sizeof(sampling.ends));
	item_put(&bytes, CHUNK_SAMPLING, &sampling);
	r = recording_samples(self->recording, CHUNK_SAMPLING, &bytes, err);
	if (!r)
		r = sample_writer_locks(self->writer, err);
	bytes_done(&bytes);
	return r;
}

/* However limpet is killed, at most a tenth of a second is lost. */
static int write_due(struct sampling *self, struct err *err)
{
	uint64_t now = now_ns();
	int r = 0;

	if (!self->writer)
		return 0;
	if (now - self->flushed_ns >= FLUSH_NS) {
		self->flushed_ns = now;
		r = sample_writer_flush(self->writer, err);
	}
	if (!r && now - self->looked_ns >= LOOK_NS) {
		self->looked_ns = now;
		r = sample_writer_look(self->writer, err);
		if (!r)
			r = write_totals(self, err);
		if (!r)
			r = recording_clock(self->recording, err);
	}
	return r;
}

static void show_totals(struct sampling *self)
{
	struct sampler_counts counts = counts_now(self);

	pthread_mutex_lock(&self->lock);
	self->totals.counts = counts;
	if (self->writer) {
		self->totals.threads = sample_writer_threads(self->writer);
		sample_writer_processes(self->writer, &self->totals.processes_seen,
					&self->totals.processes_sampled);
	}
	self->totals.sampler = self->kind ? self->kind->name : "";
	self->totals.summary = self->kind ? self->kind->summary : "";
	pthread_mutex_unlock(&self->lock);
}

/* One pass.  0, -ESRCH when the process has ended, or a failure. */
static int sampling_pass(struct sampling *self, struct err *err)
{
	const struct sampler_listener listener = { take_sample, take_process, self };
	int r;

	/* First: runtimes named this code before it was sampled, and may free its address later. */
	if (self->writer)
		sample_writer_prepare(self->writer);
	r = self->kind->drain(self->sampler, &listener, err);
	python_watch_look(self->watch);
	if (self->trouble.code) {
		*err = self->trouble;
		r = self->trouble.code;
	}
	note_reasons(self);
	if (!r)
		r = write_due(self, err);
	show_totals(self);
	return r;
}

static void phase_enter(struct sampling *self, enum phase phase, const struct err *failure)
{
	pthread_mutex_lock(&self->lock);
	self->phase = phase;
	self->has_ended |= failure->code == -ESRCH;
	if (failure->code && failure->code != -ESRCH && !self->failure.code)
		self->failure = *failure;
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
}

/* Sleeps; false when it is time to stop. */
static bool pause_a_little(struct sampling *self)
{
	uint64_t until_ns = now_ns() + PAUSE_NS;
	struct timespec until = { (time_t)(until_ns / 1000000000u),
				  (long)(until_ns % 1000000000u) };
	bool goes_on;

	pthread_mutex_lock(&self->lock);
	if (!self->is_asked_to_stop && !self->sampler->is_prompt)
		pthread_cond_timedwait(&self->changed, &self->lock, &until);
	goes_on = !self->is_asked_to_stop;
	pthread_mutex_unlock(&self->lock);
	return goes_on;
}

/* After the last sample: drains, writes what is not written, and closes the sampler. */
static void end_sampler(struct sampling *self, int r, struct err *err)
{
	uint64_t samples = UINT64_MAX;

	self->kind->stop(self->sampler);
	for (unsigned i = 0; !r && i < LAST_DRAINS && counts_now(self).samples != samples; i++) {
		samples = counts_now(self).samples;
		r = sampling_pass(self, err);
	}
	if (self->writer && (!r || r == -ESRCH))
		(void)!sample_writer_flush(self->writer, err);
	self->before = counts_now(self);
	self->kind->close(self->sampler);
	self->sampler = NULL;
	show_totals(self);
}

/* Most stacks are of processes that ended before their mappings could be read. */
static bool are_too_short(const struct sampling *self)
{
	const struct sampling_options *options = &self->options;
	struct sampler_counts counts;

	if (self->is_judged || self->kind != &sampler_bpf || options->name || options->kind ||
	    !options->sampler.children || options->sampler.off_cpu)
		return false;
	counts = self->kind->counts(self->sampler);
	return counts.samples >= JUDGED &&
	       (counts.ends[STACK_NO_MAP] + counts.ends[STACK_UNREAD]) * 2 > counts.samples;
}

/* The kernel reports mappings to the sampler "copy", also those of processes that end at once. */
static int change_to_copy(struct sampling *self, struct err *err)
{
	struct sampler_refusals *refusals = &self->refusals;
	struct err ignored = { 0 };

	self->is_judged = true;
	end_sampler(self, 0, err);
	if (err->code)
		return err->code;
	if (sampler_copy.open(&self->sampler, &self->options.sampler, &ignored))
		return open_sampler(self, err);
	self->kind = self->sampler->kind;
	refusals->items[0].kind = &sampler_bpf;
	refusals->items[0].err = (struct err){ 0 };
	err_set(&refusals->items[0].err, -ESRCH,
		"most processes ended before their code was known");
	err_fix(&refusals->items[0].err, "--sampler bpf keeps it");
	refusals->count = 1;
	note_reasons(self);
	return 0;
}

static void *sampling_run(void *argument)
{
	struct sampling *self = argument;
	struct err err = { 0 };
	int r = open_sampler(self, &err);

	if (r) {
		phase_enter(self, PHASE_OVER, &err);
		return NULL;
	}
	self->looked_ns = self->flushed_ns = now_ns();
	r = write_totals(self, &err);
	show_totals(self);
	phase_enter(self, PHASE_RUNNING, &err);
	while (!r) {
		r = sampling_pass(self, &err);
		if (!r && !pause_a_little(self))
			break;
		if (!r && are_too_short(self))
			r = change_to_copy(self, &err);
	}
	if (self->sampler)
		end_sampler(self, r, &err);
	if (r == -ESRCH && !err.code)
		err_set(&err, r, "it has ended");
	phase_enter(self, PHASE_OVER, &err);
	return NULL;
}

static void sampling_join(struct sampling *self)
{
	if (self->is_running)
		pthread_join(self->thread, NULL);
	self->is_running = false;
}

static void know_process(struct sampling *self)
{
	struct process_stat stat;
	struct err ignored = { 0 };

	if (!self->start_tick && !stat_read(self->options.sampler.pid, 0, &stat, &ignored))
		self->start_tick = stat.start_tick;
}

static int ask_first(struct sampling *self, struct err *err)
{
	if (!self->options.java_names)
		return 0;
	know_process(self);
	return self->options.is_new ? 0
				    : jvm_write_names(self->options.sampler.pid, self->start_tick,
						      &self->trace, err);
}

/* For code compiled since the first request.  If it fails, the earlier names stay. */
static void ask_again(struct sampling *self)
{
	struct err err = { 0 };

	if (self->options.java_names &&
	    jvm_write_names(self->options.sampler.pid, self->start_tick, &self->trace, &err))
		snprintf(self->totals.java_trouble, sizeof(self->totals.java_trouble), "%s%s%s",
			 err.what, err.why[0] ? ": " : "", err.why);
}

int sampling_start(struct sampling *self, struct err *err)
{
	int r = ask_first(self, err);

	if (r)
		return r;
	pthread_mutex_lock(&self->lock);
	self->phase = PHASE_OPENING;
	self->is_asked_to_stop = false;
	self->failure = (struct err){ 0 };
	pthread_mutex_unlock(&self->lock);
	r = quiet_thread(&self->thread, sampling_run, self);
	if (r)
		return err_set(err, r, "start the sampler's thread: %s", strerror(-r));
	self->is_running = true;
	pthread_mutex_lock(&self->lock);
	while (self->phase == PHASE_OPENING)
		pthread_cond_wait(&self->changed, &self->lock);
	pthread_mutex_unlock(&self->lock);
	r = sampling_check(self, err);
	if (r)
		sampling_pause(self);
	return r;
}

void sampling_set_processes(struct sampling *self, const struct sampler_options *options)
{
	self->options.sampler.pid = options->pid;
	self->options.sampler.further = options->further;
	self->options.sampler.further_count = options->further_count;
}

void sampling_set_rate(struct sampling *self, unsigned hz)
{
	self->options.sampler.hz = hz;
}

bool sampling_goes_on(struct sampling *self)
{
	bool goes_on;

	pthread_mutex_lock(&self->lock);
	goes_on = self->phase == PHASE_RUNNING;
	pthread_mutex_unlock(&self->lock);
	return goes_on;
}

bool sampling_python_thread(struct sampling *self, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	return python_watch_find(self->watch, pid, tid, ret);
}

bool sampling_has_ended(struct sampling *self)
{
	bool has_ended;

	pthread_mutex_lock(&self->lock);
	has_ended = self->has_ended;
	pthread_mutex_unlock(&self->lock);
	return has_ended;
}

int sampling_check(struct sampling *self, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = self->failure.code;
	if (r)
		*err = self->failure;
	pthread_mutex_unlock(&self->lock);
	return r;
}

void sampling_pause(struct sampling *self)
{
	pthread_mutex_lock(&self->lock);
	self->is_asked_to_stop = true;
	pthread_cond_broadcast(&self->changed);
	pthread_mutex_unlock(&self->lock);
	sampling_join(self);
}

int sampling_finish(struct sampling *self, struct err *err)
{
	struct naming naming;
	int r = sampling_check(self, err);

	if (!r)
		r = sample_writer_look(self->writer, err);
	if (!r)
		ask_again(self);
	if (!r)
		r = sample_writer_names(self->writer, NAMING_LINES_NS, &naming, err);
	if (r)
		return r;
	self->totals.naming = naming;
	return write_totals(self, err);
}

void sampling_totals(struct sampling *self, struct sampling_totals *ret)
{
	pthread_mutex_lock(&self->lock);
	*ret = self->totals;
	pthread_mutex_unlock(&self->lock);
}

void sampling_reasons(struct sampling *self, char *ret, size_t room)
{
	pthread_mutex_lock(&self->lock);
	snprintf(ret, room, "%s", self->reasons);
	pthread_mutex_unlock(&self->lock);
}

void sampling_free(struct sampling *self)
{
	if (!self)
		return;
	if (self->is_running)
		sampling_pause(self);
	sample_writer_free(self->writer);
	python_watch_free(self->watch);
	jvm_trace_end(&self->trace);
	pthread_cond_destroy(&self->changed);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

/*
 * Chooses a sampler, and runs the thread that samples.  Only that thread uses the sampler: it may
 * raise its own priority, and some kernel objects belong to the thread that made them.
 */
#include "host/recorder/samples/sampling.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/threads/worker.h"
#include "host/process/jvm/jvm.h"
#include "host/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_NS    25000000u
#define FLUSH_NS    50000000u
#define REFRESH_NS  1000000000u
#define LAST_DRAINS 8
#define JUDGED      16u /* samples after which a sampler is judged */

enum phase { PHASE_OPENING, PHASE_RUNNING, PHASE_OVER };

struct sampling {
	struct programs *programs; /* of the recording */
	struct sampling_options options;
	struct sample_writer *writer; /* NULL: nothing is recorded */
	struct python_watch *watch;
	struct sampler *sampler; /* used by the thread only */
	const struct sampler_kind *kind;
	struct sampler_refusals refusals; /* of better ones; used by the thread only */
	uint64_t start_tick;              /* of the process, for the request to a JVM */
	struct jvm_trace trace;           /* of the JVM's map file */
	struct sampler_counts before;     /* of earlier starts */
	uint64_t flushed_ns, refreshed_ns;
	struct err trouble; /* with a sample; used by the thread only */
	bool is_judged;     /* the sampler was changed once; used by the thread only */

	struct worker worker; /* its lock guards what follows */
	enum phase phase;
	struct sampling_totals totals; /* its reasons are written by the thread only */
	struct err failure;
};

int sampling_new(struct sampling **ret, struct programs *programs,
		 const struct sampling_options *options, struct err *err)
{
	struct sampling *self = calloc(1, sizeof(*self));
	int r = 0;

	if (!self)
		return err_set(err, -ENOMEM, "samples: no memory");
	worker_init(&self->worker);
	self->options = *options;
	self->totals.sampler = self->totals.summary = "";
	self->programs = programs;
	self->watch = python_watch_new();
	if (!self->watch)
		r = err_set(err, -ENOMEM, "samples: no memory");
	else if (programs)
		r = sample_writer_new(&self->writer, programs, self->watch, err);
	if (r)
		sampling_free(self);
	else
		*ret = self;
	return r;
}

/* Some limits of a sampler show later only, as when another program is executed. */
static void note_reasons(struct sampling *self)
{
	worker_lock(&self->worker);
	sampler_explain(&self->refusals, self->sampler, self->totals.reasons,
			sizeof(self->totals.reasons));
	worker_unlock(&self->worker);
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

static void on_sample(void *context, const struct sample *sample, struct space *space)
{
	struct sampling *self = context;

	if (!self->options.is_python_unwatched)
		python_watch_sample(self->watch, sample, space);
	if (self->options.observe && !self->trouble.code &&
	    self->options.observe(self->options.context, sample, space))
		err_set(&self->trouble, -ENOMEM, "samples: no memory");
	if (self->writer && !self->trouble.code)
		(void)!sample_writer_add(self->writer, sample, space, &self->trouble);
}

static void on_process(void *context, const struct sampled_process *process)
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
		.reasons = self->totals.reasons,
		.hz = options->hz,
		.flags = (options->on_cpu ? SAMPLING_ON_CPU : 0u) |
			 (options->off_cpu ? SAMPLING_OFF_CPU : 0u) |
			 (options->kernel_frames ? SAMPLING_KERNEL : 0u) |
			 (options->is_system_wide ? SAMPLING_SYSTEM_WIDE : 0u),
		.samples = counts.samples,
		.lost = counts.lost,
	};
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	int r;

	if (!self->writer)
		return 0;
	memcpy(sampling.ends, counts.ends, sizeof(sampling.ends));
	item_put(&bytes, CHUNK_SAMPLING, &sampling);
	r = recording_samples(self->programs->recording, CHUNK_SAMPLING, &bytes, err);
	return r ? r : sample_writer_locks(self->writer, err);
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
	if (!r && now - self->refreshed_ns >= REFRESH_NS) {
		self->refreshed_ns = now;
		r = sample_writer_refresh(self->writer, err);
		if (!r)
			r = write_totals(self, err);
		if (!r)
			r = recording_clock(self->programs->recording, err);
	}
	return r;
}

static void show_totals(struct sampling *self)
{
	struct sampler_counts counts = counts_now(self);

	worker_lock(&self->worker);
	self->totals.counts = counts;
	if (self->writer)
		sample_writer_count(self->writer, &self->totals.processes_seen,
				    &self->totals.processes_sampled, &self->totals.threads);
	self->totals.sampler = self->kind ? self->kind->name : "";
	self->totals.summary = self->kind ? self->kind->summary : "";
	worker_unlock(&self->worker);
}

/* One pass.  0, -ESRCH when the process has ended, or a failure. */
static int sampling_pass(struct sampling *self, struct err *err)
{
	const struct sampler_listener listener = { on_sample, on_process, self };
	int r;

	/* First: runtimes named this code before it was sampled, and may free its address later. */
	if (self->writer)
		stack_list_read(&self->programs->stacks);
	r = self->kind->drain(self->sampler, &listener, err);
	python_watch_poll(self->watch);
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
	worker_lock(&self->worker);
	self->phase = phase;
	self->totals.is_running = phase == PHASE_RUNNING;
	self->totals.has_ended |= failure->code == -ESRCH;
	if (failure->code && failure->code != -ESRCH && !self->failure.code)
		self->failure = *failure;
	worker_notify(&self->worker);
	worker_unlock(&self->worker);
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
	self->refreshed_ns = self->flushed_ns = now_ns();
	r = write_totals(self, &err);
	show_totals(self);
	phase_enter(self, PHASE_RUNNING, &err);
	while (!r) {
		r = sampling_pass(self, &err);
		if (!r && !worker_sleep_until(&self->worker,
					      self->sampler->is_prompt ? 0 : now_ns() + PAUSE_NS))
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

static int request_java_names(struct sampling *self, struct err *err)
{
	struct process_stat stat;

	if (!self->options.java_names)
		return 0;
	if (!self->start_tick && !stat_read(self->options.sampler.pid, 0, &stat, NULL))
		self->start_tick = stat.start_tick;
	return self->options.is_new ? 0
				    : jvm_write_names(self->options.sampler.pid, self->start_tick,
						      &self->trace, err);
}

int sampling_start(struct sampling *self, struct err *err)
{
	int r = request_java_names(self, err);

	if (r)
		return r;
	worker_lock(&self->worker);
	self->phase = PHASE_OPENING;
	self->totals.is_running = false;
	self->failure = (struct err){ 0 };
	worker_unlock(&self->worker);
	r = worker_start(&self->worker, sampling_run, self);
	if (r)
		return err_set(err, r, "start the sampler's thread: %s", strerror(-r));
	worker_lock(&self->worker);
	while (self->phase == PHASE_OPENING)
		worker_wait(&self->worker);
	worker_unlock(&self->worker);
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

bool sampling_python_thread(struct sampling *self, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	return python_watch_find(self->watch, pid, tid, ret);
}

int sampling_check(struct sampling *self, struct err *err)
{
	return worker_check(&self->worker, &self->failure, err);
}

void sampling_pause(struct sampling *self)
{
	worker_stop(&self->worker);
}

int sampling_finish(struct sampling *self, struct err *err)
{
	struct sampling_totals *totals = &self->totals;
	struct naming naming;
	struct err why = { 0 };
	int r = sampling_check(self, err);

	if (!r)
		r = sample_writer_refresh(self->writer, err);
	/* For code compiled since the first request.  If it fails, the earlier names stay. */
	if (!r && self->options.java_names &&
	    jvm_write_names(self->options.sampler.pid, self->start_tick, &self->trace, &why))
		snprintf(totals->java_trouble, sizeof(totals->java_trouble), "%s%s%s", why.what,
			 why.why[0] ? ": " : "", why.why);
	if (!r)
		r = stack_list_name(&self->programs->stacks, self->programs->recording,
				    NAMING_LINES_NS, &naming, err);
	if (r)
		return r;
	totals->naming = naming;
	return write_totals(self, err);
}

void sampling_totals(struct sampling *self, struct sampling_totals *ret)
{
	worker_lock(&self->worker);
	*ret = self->totals;
	worker_unlock(&self->worker);
}

void sampling_free(struct sampling *self)
{
	if (!self)
		return;
	worker_stop(&self->worker);
	sample_writer_free(self->writer);
	python_watch_free(self->watch);
	jvm_trace_end(&self->trace);
	worker_done(&self->worker);
	free(self);
}

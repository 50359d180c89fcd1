/*
 * Sessions.
 */
#include "host/ui/session/session.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/foreign.h"
#include "host/core/text/path.h"
#include "host/process/inspect/process.h"
#include "host/session/trace.h"
#include "host/ui/session/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 32 bytes a sample, about 110 a stack, which both the live model and its readers have: 60 MiB with
 * the usual stacks, 220 when each sample has one of its own, and briefly half as much again while
 * old ones are dropped. */
static const struct live_limits session_limits = {
	.samples = 1u << 20,
	.stacks = 1u << 20,
	.frames = 1u << 18,
	.threads = 1u << 14,
};

/* The sampler that sees no stacks. */
#define STATES_ONLY "state"

/* Bytes between samples of memory, as record --alloc-sample has it. */
#define ALLOC_SAMPLE (512u << 10)

/* The process must be the intended one, alive, and not limpet. */
static int process_check(const struct ui_wish *wish, char *ret_name, size_t room, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	int r = process_read(wish->pid, &process, err);

	if (r)
		return r;
	foreign_copy(ret_name, room, process.status.name);
	if (wish->has_start && wish->start_tick != process.stat.start_tick) {
		err_set(err, -ESTALE, "%d is another process by now", wish->pid);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	if (process.pid == process.rights.pid) {
		err_set(err, -EINVAL, "%d is limpet itself", wish->pid);
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	if (!process.has_ended && !process.stat.is_kernel_thread)
		return 0;
	err_set(err, -ESRCH, "%d (%s) %s", wish->pid, process.status.name,
		process.has_ended ? "has ended" : "is a thread of the kernel");
	return err_exit(err, process.has_ended ? EXIT_NO_PROCESS : EXIT_NOT_ATTACHABLE);
}

static int traces_read(const struct ui_wish *wish, uint32_t *ret, struct err *err)
{
	*ret = 0;
	for (unsigned i = 0; i < wish->trace_count; i++) {
		uint32_t domains = trace_domains_named(wish->traces[i]);

		if (!domains) {
			err_set(err, -EINVAL, "there is no trace '%s'", wish->traces[i]);
			err_fix(err, "limpet record --help names them: alloc is --alloc-trace");
			return err_exit(err, EXIT_USAGE);
		}
		*ret |= domains;
	}
	return 0;
}

/* Samples memory allocations with stacks: the page shows the functions that allocate. */
static int session_record(struct ui_session *self, const struct sampling_options *sampling,
			  struct err *err)
{
	struct source_options options = {
		.job = { .recorder = { .pids = &self->wish.pid,
				       .pid_count = 1,
				       .has_children = self->wish.children,
				       .session.is_strict = true,
				       .version = self->version },
			 .times.duration_ns = UINT64_MAX },
		.sampling = self->wish.hz ? sampling : NULL,
		.is_kept = self->wish.is_recorded,
	};
	struct trace_options *trace = &options.job.recorder.trace;
	int r = traces_read(&self->wish, &trace->domains, err);

	if (trace->domains & trace_domains_named("alloc"))
		trace->alloc_sample = ALLOC_SAMPLE;
	self->traced = trace_domains(trace);
	return r ? r : source_record(&self->source, self->live, &options, err);
}

static int session_begin(struct ui_session *self, bool off_cpu, struct err *err)
{
	const struct sampling_options sampling = { .sampler = { .pid = self->wish.pid,
								.hz = self->wish.hz,
								.on_cpu = true,
								.off_cpu = off_cpu,
								.kernel_frames = true,
								.children = self->wish.children } };
	int r;

	self->is_attached = self->wish.trace_count || self->wish.is_recorded;
	r = self->is_attached ? session_record(self, &sampling, err)
			      : source_start(&self->source, self->live, &sampling, err);
	if (!r)
		self->wish.off_cpu = off_cpu && self->wish.hz;
	return r;
}

/* Adds up the counts of the former source; a recording in memory is freed. */
static void former_end(struct ui_session *self)
{
	self->lost += self->facts.lost;
	self->facts = (struct source_facts){ 0 };
	calls_done(&self->calls);
	self->calls.origin_ns = self->origin_ns;
	source_free(self->source);
	self->source = NULL;
}

/* Thread states are readable for every user: without the right to sample, they are used and the
 * page gets the reason. */
static int stacks_check(struct ui_session *self, struct err *err)
{
	int r;

	ui_session_poll(self);
	if (!self->facts.sampler || strcmp(self->facts.sampler, STATES_ONLY) != 0)
		return 0;
	r = verdict_rights(self->wish.pid, /* of_others_only */ false, err);
	if (r)
		former_end(self);
	return r;
}

/* Waits are a wish, samples are a must. */
int ui_session_start(struct ui_session *self, struct err *err)
{
	int r;

	former_end(self);
	self->stopped_why[0] = '\0';
	r = session_begin(self, self->wish.off_cpu, err);
	if (r && self->wish.off_cpu && err->code != -EINVAL) {
		struct err second = { 0 };

		if (!session_begin(self, /* off_cpu */ false, &second)) {
			*err = (struct err){ 0 };
			r = 0;
		}
	}
	if (!r)
		r = stacks_check(self, err);
	if (!r)
		self->state = UI_RECORDING;
	ui_session_poll(self);
	return r;
}

static int session_new(struct ui_session **ret, const struct ui_wish *wish, struct err *err)
{
	struct ui_session *self = calloc(1, sizeof(*self));
	int r;

	if (!self) {
		err_set(err, -ENOMEM, "session: no memory");
		return -ENOMEM;
	}
	self->wish = *wish;
	self->state = UI_STOPPED;
	r = process_check(wish, self->name, sizeof(self->name), err);
	if (!r)
		r = live_new(&self->live, wish->pid, &session_limits, err);
	self->origin_ns = self->calls.origin_ns = now_ns();
	self->start_unix_ms = (int64_t)(clock_read_ns(CLOCK_REALTIME) / 1000000);
	self->own_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (r)
		ui_session_free(self);
	else
		*ret = self;
	return r;
}

int ui_session_attach(struct ui_session **ret, const struct ui_wish *wish, const char *version,
		      struct err *err)
{
	struct ui_session *self = NULL;
	int r = session_new(&self, wish, err);

	if (r)
		return r;
	self->version = version;
	r = wish->hz || wish->trace_count
		    ? ui_session_start(self, err)
		    : verdict_rights(wish->pid, /* of_others_only */ true, err);
	if (r) {
		ui_session_free(self);
		return r;
	}
	ui_session_tick(self);
	*ret = self;
	return 0;
}

int ui_session_record(struct ui_session **ret, const struct source_options *options,
		      struct err *err)
{
	const struct recorder_options *recorder = &options->job.recorder;
	const struct sampler_options *sampler =
		options->sampling ? &options->sampling->sampler : NULL;
	const struct ui_wish wish = { .pid = recorder->pids[0],
				      .hz = sampler ? sampler->hz : 0,
				      .off_cpu = sampler && sampler->off_cpu,
				      .children = recorder->has_children,
				      .is_recorded = 1 };
	struct ui_session *self = NULL;
	int r = session_new(&self, &wish, err);

	if (r)
		return r;
	self->version = recorder->version;
	self->traced = trace_domains(&recorder->trace);
	self->is_attached = true;
	r = source_record(&self->source, self->live, options, err);
	if (r) {
		ui_session_free(self);
		return r;
	}
	self->state = UI_RECORDING;
	ui_session_tick(self);
	*ret = self;
	return 0;
}

static void model_describe(struct ui_session *self, const struct model *model, const char *path)
{
	int64_t offset = model_wall_offset_ns(model);
	uint64_t boot_ns =
		self->store.begin_ns + (model->first.boot_ns - model->first.monotonic_ns);

	foreign_copy(self->file, sizeof(self->file), path_base_name(path));
	foreign_copy(self->name, sizeof(self->name),
		     model->process_count ? model->processes[0]->name : self->file);
	self->wish.pid = model->process_count ? model->processes[0]->pid : 0;
	self->wish.hz = model->samples->hz;
	self->wish.off_cpu = (model->samples->flags & SAMPLING_OFF_CPU) != 0;
	self->origin_ns = self->store.begin_ns;
	self->start_unix_ms = (int64_t)(boot_ns + (uint64_t)offset) / 1000000;
}

int ui_session_load(struct ui_session **ret, const char *path, struct err *err)
{
	struct ui_session *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "open '%s': no memory", path);
	self->state = UI_FILE;
	self->path = path;
	r = store_open(&self->store, path, err);
	if (r) {
		free(self);
		return r;
	}
	model_describe(self, self->store.model, path);
	calls_borrow(&self->calls, self->store.model, self->origin_ns);
	*ret = self;
	return 0;
}

void ui_now_done(struct ui_now *now)
{
	free(now->threads);
	free(now->top);
	*now = (struct ui_now){ 0 };
}

void ui_session_free(struct ui_session *session)
{
	if (!session)
		return;
	calls_done(&session->calls);
	source_free(session->source);
	live_free(session->live);
	thread_watch_done(&session->watch);
	curves_done(&session->curves);
	ui_now_done(&session->now);
	store_close(&session->store);
	free(session);
}

static void state_change(struct ui_session *self, enum ui_state state)
{
	if (self->state == UI_RECORDING)
		self->ended_ns = now_ns();
	self->state = state;
}

void ui_session_poll(struct ui_session *self)
{
	if (self->source)
		source_query(self->source, &self->facts);
	if (self->state != UI_RECORDING)
		return;
	if (self->facts.has_ended)
		state_change(self, UI_ENDED);
	else if (self->facts.error.code)
		state_change(self, UI_FAILED);
}

/* Ends the source; an error of its file is the session's. */
static void source_finish(struct ui_session *self)
{
	struct err err = { 0 };

	if (self->source && source_end(self->source, &err) && !self->facts.error.code)
		self->facts.error = err;
}

void ui_session_stop(struct ui_session *self, enum ui_state state)
{
	if (self->source)
		source_stop(self->source);
	ui_session_poll(self);
	source_finish(self);
	if (self->state != UI_ENDED)
		state_change(self, state);
}

void ui_session_follow(struct ui_session *self)
{
	struct source_facts facts;

	if (!self->source || !self->is_attached)
		return;
	source_query(self->source, &facts);
	calls_follow(&self->calls, self->source, facts.bytes);
}

/* Those of a live session were loaded in parallel. */
int ui_session_spans(struct ui_session *self, struct err *err)
{
	ui_session_follow(self);
	return calls_load(&self->calls) ? err_set(err, -ENOMEM, "calls: no memory") : 0;
}

const char *ui_session_calls_empty(struct ui_session *self, bool *ret_is_behind)
{
	const struct calls *calls = &self->calls;
	bool is_traced = self->source && self->traced, is_behind;
	struct source_facts facts = { 0 };

	if (is_traced)
		source_query(self->source, &facts);
	is_behind = facts.calls && calls->bytes < facts.bytes;
	*ret_is_behind = is_behind && !calls->err.code;
	if (calls->spans.count)
		return "";
	if (!is_traced)
		return "this session has no traced calls: choose what to trace when you start it";
	if (is_behind && calls->err.code)
		return calls->err.what;
	return *ret_is_behind || (facts.calls && facts.is_running)
		       ? "the calls that were traced are being read"
		       : "none of what is traced was called so far";
}

int64_t ui_session_thread(const struct ui_session *self, int64_t number, int32_t tid)
{
	const struct model *model = self->store.model;
	uint32_t live;

	if (number < 0)
		return number;
	if (!ui_session_is_live(self))
		return number < model->thread_count ? self->store.sampled[number] : number;
	return live_thread_find(self->live, tid, &live) ? (int64_t)live : -1;
}

void ui_session_tick(struct ui_session *self)
{
	if (!ui_session_is_live(self))
		return;
	ui_session_poll(self);
	if (self->state == UI_ENDED || self->state == UI_FAILED)
		source_finish(self);
	if (self->state == UI_ENDED) {
		thread_watch_end(&self->watch);
		return;
	}
	if (self->state != UI_RECORDING)
		return;
	thread_read_name(self->wish.pid, self->wish.pid, self->name, sizeof(self->name));
	foreign_clean(self->name, "");
	thread_watch_poll(&self->watch, self->live, self->source, &self->wish.pid, 1);
	curves_poll(&self->curves, self->wish.pid);
}

uint64_t ui_session_end_ns(struct ui_session *self)
{
	uint64_t end_ns = self->store.end_ns;

	if (self->state == UI_RECORDING)
		end_ns = now_ns();
	else if (ui_session_is_live(self))
		end_ns = self->ended_ns;
	/* Recordings are foreign; a command's times are limited. */
	return MIN(end_ns - MIN(end_ns, self->origin_ns), UI_TIME_MAX);
}

/*
 * The sampler "copy": perf copies registers and a piece of the stack into a ring, and limpet
 * unwinds that by the same tables as the kernel program would.  Needs no right for processes of the
 * same user.  The target is never stopped.
 */
#include "host/sampling/copy/copy.h"

#include "host/core/clock.h"
#include "host/process/rights/rights.h"
#include "host/sampling/copy/stack_holes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROMPT_NS  20000000u
#define YOUNG_NS   1000000000u /* how long to read often, to learn the needed size of copies */
#define UNHEARD_MS 2           /* between readings where no sample wakes the reader */

/* True: copies should have another size, or be read at once, by events with these attributes. */
static bool copy_must_reopen(const struct copy_sampler *self, struct perf_attrs *ret)
{
	const struct perf_event_attr *now = &self->events.attrs.items[COPY_CLOCK];
	uint32_t size = stack_need_size(&self->need, now->sample_stack_user);
	bool is_prompt = now->wakeup_events || stack_need_haste(&self->need, size);

	if (self->is_stopped ||
	    (size == now->sample_stack_user && is_prompt == (bool)now->wakeup_events))
		return false;
	*ret = self->events.attrs;
	for (unsigned i = 0; i < ret->count; i++)
		ret->items[i].sample_stack_user = size;
	ret->items[COPY_CLOCK].wakeup_events = is_prompt;
	return true;
}

static int copy_read_records(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct perf_batch batch;
	int r = perf_batch_read(&batch, &self->events);

	if (r < 0)
		return err_set(err, r, "take samples: %s", strerror(-r));
	r = copy_handle_records(round, &batch);
	perf_batch_done(&batch, &self->events);
	return r < 0 ? err_set(err, r, "read samples: %s", strerror(-r)) : 0;
}

/* The context of a watcher's callback. */
struct promptly {
	struct copy_round *round;
	struct err *err;
};

/* Other than 0: an error, or the events must be reopened. */
static int take_promptly(void *context)
{
	struct promptly *promptly = context;
	struct perf_attrs attrs;
	int r = copy_read_records(promptly->round, promptly->err);

	return r ? r : copy_must_reopen(promptly->round->self, &attrs);
}

/* Where each sample is read at once, that is done on its own processor.  NULL: not so. */
static struct watchers *copy_open_watchers(struct copy_sampler *self)
{
	if (!self->has_tried_watchers && self->events.attrs.items[COPY_CLOCK].wakeup_events) {
		self->has_tried_watchers = true;
		(void)!watchers_open(&self->watchers, &self->events);
	}
	return self->watchers;
}

/* Handles samples at once, for as long as callers would wait between drains, or until the events
 * must be reopened. */
static int copy_read_promptly(struct copy_round *round, struct err *err)
{
	struct copy_sampler *self = round->self;
	struct promptly promptly = { round, err };
	uint64_t end_ns = now_ns() + PROMPT_NS, now;
	struct watchers *watchers;
	struct perf_attrs attrs;
	int r = copy_must_reopen(self, &attrs), limit_ms;

	while (!r && !self->is_stopped && (now = now_ns()) < end_ns) {
		watchers = copy_open_watchers(self);
		r = watchers ? watchers_let(watchers, take_promptly, &promptly, end_ns - now)
			     : -ENODATA;
		if (r != -ENODATA)
			continue;
		limit_ms = (int)((end_ns - now) / 1000000 + 1);
		if (!self->events.attrs.items[COPY_CLOCK].wakeup_events)
			limit_ms = UNHEARD_MS;
		perf_events_wait(&self->events, limit_ms);
		r = take_promptly(&promptly);
	}
	return MIN(r, 0);
}

/* Interpreted frames, and stack memory beyond the copy, are read before they change.  At first the
 * needed size of copies is not known either. */
static bool copy_is_prompt(const struct copy_sampler *self)
{
	return self->has_interpreter || self->events.attrs.items[COPY_CLOCK].wakeup_events ||
	       now_ns() - self->opened_ns < YOUNG_NS;
}

static struct perf_event_attr make_attr(const struct sampler_options *options)
{
	struct perf_event_attr attr = {
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			       (options->kernel_frames ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_regs_user = perf_register_mask(),
		.sample_stack_user = STACK_NEED_FIRST,
		.read_format = PERF_FORMAT_LOST,
		.sample_id_all = 1,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = !options->children,
		.exclude_callchain_user = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = options->off_cpu,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (options->on_cpu)
		event_count(options->event, copy_period_ns(options), &attr);
	return attr;
}

/* Sampling a thread's kernel side needs another right. */
static struct perf_attrs make_attrs(const struct copy_sampler *self, bool is_with_kernel)
{
	struct perf_attrs attrs = { .items = { make_attr(&self->options) }, .count = 1 };
	struct perf_event_attr *switches = &attrs.items[COPY_SWITCHES];

	if (!is_with_kernel) {
		attrs.items[COPY_CLOCK].exclude_kernel = attrs.items[COPY_CLOCK].exclude_hv = 1;
		attrs.items[COPY_CLOCK].sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	} else if (self->options.off_cpu) {
		/* The stack at each switch, without the other kinds of records. */
		*switches = attrs.items[COPY_CLOCK];
		switches->type = PERF_TYPE_SOFTWARE;
		switches->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		switches->freq = 0;
		switches->sample_period = 1;
		switches->mmap = switches->mmap2 = switches->comm = switches->comm_exec = 0;
		switches->task = switches->context_switch = 0;
		attrs.count = 2;
	}
	return attrs;
}

/* Falls back to less where the kernel allows less, with a note of what is missing. */
static int open_rings(struct copy_sampler *self, struct err *err)
{
	struct perf_attrs attrs = make_attrs(self, true);
	int r = perf_events_init(&self->events, &attrs, self->options.pid, err);

	if (r != -EACCES && r != -EPERM)
		return r;
	sampler_limit(&self->base,
		      "time inside the kernel is not seen%s; sudo sysctl "
		      "kernel.perf_event_paranoid=1, or %s",
		      self->options.off_cpu ? ", stacks of short sleeps are guesses" : "",
		      rights_fix());
	*err = (struct err){ 0 };
	attrs = make_attrs(self, false);
	return perf_events_init(&self->events, &attrs, self->options.pid, err);
}

static void copy_close(struct sampler *sampler)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;

	watchers_close(self->watchers);
	perf_events_done(&self->events);
	coverage_done(&self->coverage);
	followed_done(&self->processes);
	off_cpu_done(&self->off_cpu);
	priority_restore(&self->priority);
	interpreter_stacks_done(&self->outside.stacks);
	free(self->sample);
	free(self);
}

static int copy_follow(struct copy_sampler *self, pid_t pid, struct followed **ret, struct err *err)
{
	struct space *space;
	int r = space_open(&space, pid, err);

	if (r)
		return r;
	r = followed_add(&self->processes, space, ret);
	if (r)
		return err_set(err, r, "no memory to follow %d", (int)pid);
	followed_read_generated(*ret);
	if (!followed_has_ended(*ret))
		stack_holes_fill(pid, (*ret)->pidfd, &self->holes_left_ns);
	return 0;
}

static int copy_join(struct sampler *sampler, pid_t pid, struct err *err)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;
	struct followed *process;
	int r;

	if (followed_find(&self->processes, pid))
		return 0;
	r = copy_follow(self, pid, &process, err);
	if (r)
		return r;
	r = coverage_open(&self->coverage, &self->events, pid, /* is_heir */ true, err);
	if (r)
		followed_remove(&self->processes, pid);
	return r ? r : 1;
}

/* A Java may be found later than the first process. */
static void refresh_java(struct copy_sampler *self)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < self->processes.count; i++)
		followed_refresh_java(self->processes.items[i], now);
	if (self->root->generated.why[0])
		sampler_limit(&self->base, "%s", self->root->generated.why);
}

/* With prompt reading, sampling begins when the watchers run: interpreted frames of earlier samples
 * would be read too late. */
static void copy_begin(struct copy_sampler *self)
{
	if (self->has_begun || self->is_stopped)
		return;
	self->has_begun = true;
	(void)!copy_open_watchers(self);
	if (!self->options.off_cpu)
		perf_events_switch(&self->events, true);
}

static int copy_start(struct copy_sampler *self, struct err *err)
{
	int r = open_rings(self, err);
	uint32_t size;

	/* Copying stacks of all switches would fill the rings. */
	if (!r && !self->options.off_cpu) {
		size = stack_need_first(perf_events_ring_size(&self->events));
		self->events.attrs.items[COPY_CLOCK].sample_stack_user = size;
		self->need.is_trial = size > STACK_NEED_FIRST;
	}
	if (!r)
		r = copy_follow(self, self->options.pid, &self->root, err);
	/* Each sample then wakes the reader at once.  The events are not open yet. */
	if (!r && (copy_use_outside(self, self->root) || space_leaves_stacks(self->root->space)))
		self->events.attrs.items[COPY_CLOCK].wakeup_events = 1;
	if (!r)
		r = coverage_open(&self->coverage, &self->events, self->options.pid,
				  /* is_heir */ false, err);
	if (!r)
		r = family_join_all(&self->base, &self->options, copy_join, err);
	if (!r)
		refresh_java(self);
	if (!r && self->options.off_cpu && copy_begin_switches(self) < 0)
		r = err_set(err, -ENOMEM, "no memory for threads");
	if (!r && !self->events.attrs.items[COPY_CLOCK].wakeup_events)
		copy_begin(self);
	return r;
}

/* The priority is raised once the sampler has started, or the rings would overflow next to many
 * busy threads. */
static int copy_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	struct copy_sampler *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for a sampler");
	self->base.kind = &sampler_copy;
	self->options = *options;
	self->opened_ns = now_ns();
	self->holes_left_ns = STACK_HOLES_NS;
	self->sample =
		calloc(1, sizeof(*self->sample) +
				  (2 * SAMPLE_FRAMES_MAX + COPY_KERNEL_FRAMES) * sizeof(uint64_t));
	r = self->sample ? copy_start(self, err) : err_set(err, -ENOMEM, "no memory for a sampler");
	if (r < 0) {
		copy_close(&self->base);
		return r;
	}
	priority_raise(&self->priority);
	*ret = &self->base;
	return r;
}

/* Opens events with the attributes of `beside` for all followed processes. */
static int open_beside(struct copy_sampler *self, struct coverage *coverage,
		       struct perf_events *beside, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->processes.count; i++) {
		struct followed *process = self->processes.items[i];

		if (!followed_has_ended(process))
			r = coverage_open(coverage, beside, process->pid,
					  /* is_heir */ process != self->root, err);
		/* A process that has gained rights may refuse events by now. */
		if ((r == -EACCES || r == -EPERM) && process != self->root)
			r = 0;
	}
	return r;
}

/* Opens events with other attributes beside the old ones, then switches over. */
static int copy_reopen(struct copy_sampler *self, const struct perf_attrs *attrs, struct err *err)
{
	struct coverage coverage = { 0 };
	struct perf_events other = perf_events_beside(&self->events, attrs);
	bool is_as_large = attrs->items[COPY_CLOCK].sample_stack_user ==
			   self->events.attrs.items[COPY_CLOCK].sample_stack_user;
	int r = open_beside(self, &coverage, &other, err);

	if (r < 0) {
		coverage_done(&coverage);
		perf_events_close(&other);
		return r == -ESRCH ? 0 : r;
	}
	perf_events_switch(&self->events, false);
	self->lost_in_rings += perf_events_lost(&self->events);
	perf_events_switch(&other, true);
	perf_events_close(&self->events);
	self->events = other;
	coverage_done(&self->coverage);
	self->coverage = coverage;
	self->need = (struct stack_need){ .is_trial = self->need.is_trial && is_as_large };
	return 0;
}

static int copy_drain(struct sampler *sampler, const struct sampler_listener *listener,
		      struct err *err)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;
	struct copy_round round = { self, listener };
	/* Checked first: after this no record is added. */
	bool is_last = self->options.children || self->options.further_count
			       ? followed_all_have_ended(&self->processes)
			       : followed_has_ended(self->root);
	struct perf_attrs attrs;
	int r;

	copy_begin(self);
	self->throttle.others_ns = watchers_used_ns(self->watchers);
	throttle_adjust(&self->throttle);
	refresh_java(self);
	r = copy_read_records(&round, err);
	self->base.is_prompt = copy_is_prompt(self);
	if (!r && !is_last && self->base.is_prompt)
		r = copy_read_promptly(&round, err);
	if (r < 0)
		return r;
	if (self->options.off_cpu) {
		copy_judge_switches(self);
		copy_read_sleepers(self);
	}
	if (self->options.off_cpu && (is_last || self->is_stopped) && !self->is_flushed) {
		copy_flush_switches(&round);
		self->is_flushed = true;
	}
	if (is_last)
		return -ESRCH;
	return copy_must_reopen(self, &attrs) ? copy_reopen(self, &attrs, err) : 0;
}

static void copy_stop(struct sampler *sampler)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;

	perf_events_switch(&self->events, false);
	if (!self->is_stopped)
		self->lost_in_rings += perf_events_lost(&self->events);
	self->is_stopped = true;
}

/* A ring reports losses with the next record that has room: the last ones are never reported. */
static struct sampler_counts copy_counts(const struct sampler *sampler)
{
	const struct copy_sampler *self = (const struct copy_sampler *)sampler;
	struct sampler_counts counts = self->counts;

	counts.lost = MAX(counts.lost, self->lost_in_rings);
	counts.throttled = self->throttle.most;
	return counts;
}

const struct sampler_kind sampler_copy = {
	.name = "copy",
	.summary = "perf copies stacks, limpet unwinds them",
	.open = copy_open,
	.drain = copy_drain,
	.stop = copy_stop,
	.counts = copy_counts,
	.close = copy_close,
};

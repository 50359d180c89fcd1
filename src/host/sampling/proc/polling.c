/*
 * Polls the states of threads in /proc; stops nothing.
 */
#include "host/sampling/proc/polling.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/forks/descendants.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#define FAMILY_NS 1000000000u
#define PATIENCE  8u /* periods: a running sample waits this long for the thread to run */

/* One poll of all threads. */
struct polling_round {
	struct polling *self;
	const struct sampler_listener *listener; /* NULL: only notes times */
	bool is_last;                            /* no stacks any more */
};

/* A space that cannot be read is empty: states need no right. */
static int add_process(struct polling *self, pid_t pid, struct followed **ret)
{
	int r = followed_add_child(&self->processes, pid, /* parent */ 0, ret);

	if (!r)
		followed_read_first(*ret);
	return r;
}

/* Emits all that is owed of this kind as one sample. */
static void polling_emit(struct polling_round *round, struct thread_time *time,
			 enum sample_kind kind)
{
	struct polling *self = round->self;
	struct followed *process = followed_find(&self->processes, time->pid);
	bool is_asleep = time->state != 'R';

	*self->sample = (struct sample){
		.time_ns = time->seen_ns,
		.weight_ns = time->owed_ns[kind],
		.pid = (uint32_t)time->pid,
		.tid = (uint32_t)time->tid,
		.kind = (uint8_t)kind,
		.end = STACK_NO_USER,
		.state = kind == SAMPLE_BLOCKED && is_asleep ? (uint8_t)time->state : 'R',
	};
	time->owed_ns[kind] = 0;
	if (!process || !(kind == SAMPLE_RUNNING ? self->options.on_cpu : self->options.off_cpu))
		return;
	if (self->stack && is_asleep == (kind == SAMPLE_BLOCKED) && !round->is_last)
		self->stack(self, process, time->tid);
	self->counts.samples++;
	self->counts.ends[self->sample->end]++;
	round->listener->sample(round->listener->context, self->sample, process->space);
}

static void emit_all(void *context, struct thread_time *time)
{
	struct polling_round round = *(struct polling_round *)context;

	round.is_last = true;
	thread_time_end(time);
	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
		if (time->owed_ns[kind])
			polling_emit(&round, time, kind);
}

/* NULL: the first poll of it, or no memory. */
static struct thread_time *known_time(struct polling *self, const struct thread_time *now,
				      const struct process_stat *stat)
{
	struct thread_time *time = thread_times_find(&self->times, now->tid), first = *now;

	if (time && time->pid == now->pid && now->last.run_ns >= time->last.run_ns)
		return time;
	if (stat->start_tick > self->begin_tick) {
		first.last = (struct schedstat){ 0 };
		first.seen_ns -= MIN(first.seen_ns, now->last.run_ns + now->last.wait_ns);
	}
	if (time)
		*time = first;
	else
		time = thread_times_add(&self->times, &first);
	return stat->start_tick > self->begin_tick ? time : NULL;
}

static void poll_thread(struct polling_round *round, struct followed *process, pid_t tid)
{
	struct thread_time now = { .pid = process->pid, .tid = tid }, *time;
	uint64_t period_ns = 1000000000u / round->self->options.hz;
	struct process_stat stat;
	struct err err = { 0 };

	if (stat_read(process->pid, tid, &stat, &err) < 0 || stat.state == 'Z' || stat.state == 'X')
		return;
	/* Where the kernel keeps no such statistics, its clock ticks are a rough substitute. */
	if (schedstat_read(process->pid, tid, &now.last) || (!now.last.run_ns && stat.cpu_ns))
		now.last = (struct schedstat){ .run_ns = stat.cpu_ns };
	now.seen_ns = now_ns();
	now.state = stat.state;
	time = known_time(round->self, &now, &stat);
	if (!time)
		return;
	thread_time_poll(time, &now.last, now.seen_ns, stat.state);
	if (!round->listener)
		return;
	/* Samples of running time are emitted at their rate, if possible at a moment when the
	 * thread runs; sleeping threads are emitted as soon as they are found asleep. */
	if (time->owed_ns[SAMPLE_RUNNING] >= period_ns * (time->state == 'R' ? 1 : PATIENCE))
		polling_emit(round, time, SAMPLE_RUNNING);
	if (time->owed_ns[SAMPLE_RUNNABLE] >= period_ns)
		polling_emit(round, time, SAMPLE_RUNNABLE);
	if (time->owed_ns[SAMPLE_BLOCKED])
		polling_emit(round, time, SAMPLE_BLOCKED);
}

static int poll_process(struct polling_round *round, struct followed *process, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count = 0;
	int r = proc_list(process->pid, "task", &tids, &count, err);

	for (size_t i = 0; !r && i < count; i++)
		poll_thread(round, process, tids[i]);
	return r;
}

/* Follows the further processes, and notes the times of all: that spent before does not count. */
static int polling_begin(struct polling *self, struct err *err)
{
	struct polling_round round = { .self = self };
	struct process_stat stat;
	struct followed *process;
	int r = 0;

	for (size_t i = 0; !r && i < self->options.further_count; i++) {
		r = stat_read(self->options.further[i], 0, &stat, err);
		if (!r && add_process(self, self->options.further[i], &process))
			r = err_set(err, -ENOMEM, "no memory for a sampler");
	}
	for (size_t i = 0; !r && i < self->processes.count; i++)
		r = poll_process(&round, self->processes.items[i], err);
	return r;
}

int polling_open(struct polling **ret, const struct sampler_kind *kind,
		 const struct sampler_options *options, struct err *err)
{
	struct polling *self;
	struct process_stat stat;
	int r = stat_read(options->pid, 0, &stat, err);

	if (options->event != EVENT_CPU_CLOCK)
		return err_set(err, -EOPNOTSUPP, "only perf events count something else than time");
	self = calloc(1, sizeof(*self));
	if (r < 0 || !self) {
		free(self);
		return r < 0 ? r : err_set(err, -ENOMEM, "no memory for a sampler");
	}
	self->base.kind = kind;
	self->options = *options;
	self->options.hz = MIN(options->hz, POLLING_HZ_MAX);
	self->last_ns = now_ns();
	self->begin_tick = boot_now_ns() / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	self->sample = calloc(1, sizeof(*self->sample) + 2 * SAMPLE_FRAMES_MAX * sizeof(uint64_t));
	if (!self->sample || add_process(self, options->pid, &self->root)) {
		polling_close(&self->base);
		return err_set(err, -ENOMEM, "no memory for a sampler");
	}
	r = polling_begin(self, err);
	if (r < 0) {
		polling_close(&self->base);
		return r;
	}
	*ret = self;
	return 0;
}

/* This reads all processes of the machine: not at each poll. */
static void find_family(struct polling *self, uint64_t now, const struct sampler_listener *listener)
{
	if (!self->options.children || now < self->next_family_ns)
		return;
	self->next_family_ns = now + FAMILY_NS;
	for (size_t i = 0; i <= self->options.further_count; i++) {
		CLEANUP(free) pid_t *pids = NULL;
		pid_t root = i ? self->options.further[i - 1] : self->options.pid;
		struct followed *process;
		struct err err = { 0 };
		size_t count = 0;

		(void)!descendants_list(root, &pids, &count, &err);
		for (size_t k = 0; k < count; k++)
			if (!followed_find(&self->processes, pids[k]) &&
			    !add_process(self, pids[k], &process))
				listener->process(listener->context,
						  &(struct sampled_process){ .pid = pids[k],
									     .parent = root });
	}
}

static bool has_several(const struct polling *self)
{
	return self->options.children || self->options.further_count;
}

static int poll_all(struct polling_round *round, uint64_t now, struct err *err)
{
	struct polling *self = round->self;
	struct err gone = { 0 };
	int r = 0;

	find_family(self, now, round->listener);
	for (size_t i = 0; i < self->processes.count; i++) {
		struct followed *process = self->processes.items[i];

		followed_refresh_java(process, now);
		if (!followed_has_ended(process))
			r = poll_process(round, process, has_several(self) ? &gone : err);
	}
	if (self->root->generated.why[0])
		sampler_limit(&self->base, "%s", self->root->generated.why);
	thread_times_sweep(&self->times, now, emit_all, round);
	self->last_ns = now;
	return has_several(self) ? 0 : r;
}

/* Emits all time still owed. */
static void polling_flush(struct polling_round *round)
{
	struct polling *self = round->self;

	for (size_t i = 0; !self->is_flushed && i < self->times.count; i++)
		emit_all(round, &self->times.items[i]);
	self->is_flushed = true;
}

int polling_drain(struct sampler *sampler, const struct sampler_listener *listener, struct err *err)
{
	struct polling *self = (struct polling *)sampler;
	struct polling_round round = { self, listener, self->is_stopped };
	uint64_t now = now_ns();
	int r = 0;

	if (has_several(self) ? followed_all_have_ended(&self->processes)
			      : followed_has_ended(self->root)) {
		polling_flush(&round);
		return -ESRCH;
	}
	if (self->is_flushed ||
	    (!self->is_stopped && now - self->last_ns < 1000000000u / self->options.hz))
		return 0;
	r = poll_all(&round, now, err);
	if (self->is_stopped)
		polling_flush(&round);
	return r;
}

void polling_stop(struct sampler *sampler)
{
	((struct polling *)sampler)->is_stopped = true;
}

struct sampler_counts polling_counts(const struct sampler *sampler)
{
	return ((const struct polling *)sampler)->counts;
}

void polling_close(struct sampler *sampler)
{
	struct polling *self = (struct polling *)sampler;

	followed_done(&self->processes);
	thread_times_done(&self->times);
	interpreter_stacks_done(&self->outside.stacks);
	free(self->sample);
	free(self);
}

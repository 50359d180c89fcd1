/*
 * Looks at the states of threads in /proc.  Host only; stops nothing.
 */
#include "host/sampling/polling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

/* A space that cannot be read is an empty one: states need no right. */
static int add_process(struct polling *self)
{
	if (!processes_add_child(&self->processes, self->options.pid, 0))
		return -ENOMEM;
	process_freshen(&self->processes.items[0]);
	return 0;
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
	self->sample = calloc(1, sizeof(*self->sample) + SAMPLE_FRAMES_MAX * sizeof(uint64_t));
	if (!self->sample || add_process(self) < 0) {
		polling_close(&self->base);
		return err_set(err, -ENOMEM, "no memory for a sampler");
	}
	*ret = self;
	return 0;
}

static enum sample_kind kind_of(char state)
{
	return state == 'R' ? SAMPLE_RUNNING : SAMPLE_BLOCKED;
}

static bool is_wanted(const struct polling *self, enum sample_kind kind)
{
	return kind == SAMPLE_RUNNING ? self->options.on_cpu : self->options.off_cpu;
}

static void look_at(struct polling *self, pid_t tid, uint64_t weight_ns,
		    const struct sampler_listener *listener)
{
	struct process_stat stat;
	struct err err = { 0 };
	enum sample_kind kind;

	if (stat_read(self->options.pid, tid, &stat, &err) < 0)
		return;
	kind = kind_of(stat.state);
	if (stat.state == 'Z' || stat.state == 'X' || !is_wanted(self, kind))
		return;
	*self->sample = (struct sample){
		.time_ns = now_ns(),
		.weight_ns = weight_ns,
		.pid = (uint32_t)self->options.pid,
		.tid = (uint32_t)tid,
		.kind = (uint8_t)kind,
		.end = STACK_NO_USER,
		.state = (uint8_t)stat.state,
	};
	if (self->stack && kind == SAMPLE_BLOCKED)
		self->stack(self, tid);
	self->counts.samples++;
	self->counts.ends[self->sample->end]++;
	listener->sample(listener->context, self->sample, self->processes.items[0].space);
}

int polling_drain(struct sampler *sampler, const struct sampler_listener *listener, struct err *err)
{
	struct polling *self = (struct polling *)sampler;
	uint64_t now = now_ns(), weight = now - self->last_ns;
	CLEANUP(free) pid_t *tids = NULL;
	size_t count = 0;
	int r;

	if (process_has_ended(&self->processes.items[0]))
		return -ESRCH;
	if (self->is_stopped || weight < 1000000000u / self->options.hz)
		return 0;
	r = proc_list(self->options.pid, "task", &tids, &count, err);
	if (r < 0)
		return r;
	processes_begin_round(&self->processes);
	for (size_t i = 0; i < count; i++)
		look_at(self, tids[i], weight, listener);
	self->last_ns = now;
	return 0;
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

	processes_done(&self->processes);
	free(self->sample);
	free(self);
}

/*
 * Looks at the states of threads in /proc.  Host only; stops nothing.
 */
#include "host/sampling/polling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/kin.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#define FAMILY_NS 1000000000u

/* A space that cannot be read is an empty one: states need no right. */
static int add_process(struct polling *self, pid_t pid, struct followed **ret)
{
	int r = followed_add_child(&self->processes, pid, /* parent */ 0, ret);

	if (!r)
		followed_freshen(*ret);
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
	self->sample = calloc(1, sizeof(*self->sample) + 2 * SAMPLE_FRAMES_MAX * sizeof(uint64_t));
	if (!self->sample || add_process(self, options->pid, &self->root)) {
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

static void look_at(struct polling *self, struct followed *process, pid_t tid,
		    const struct sampler_listener *listener)
{
	struct process_stat stat;
	struct err err = { 0 };
	enum sample_kind kind;

	if (stat_read(process->pid, tid, &stat, &err) < 0)
		return;
	kind = kind_of(stat.state);
	if (stat.state == 'Z' || stat.state == 'X' || !is_wanted(self, kind))
		return;
	*self->sample = (struct sample){
		.time_ns = now_ns(),
		.weight_ns = self->weight_ns,
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)tid,
		.kind = (uint8_t)kind,
		.end = STACK_NO_USER,
		.state = (uint8_t)stat.state,
	};
	if (self->stack && kind == SAMPLE_BLOCKED)
		self->stack(self, process, tid);
	self->counts.samples++;
	self->counts.ends[self->sample->end]++;
	listener->sample(listener->context, self->sample, process->space);
}

static int look_at_process(struct polling *self, struct followed *process,
			   const struct sampler_listener *listener, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count = 0;
	int r = proc_list(process->pid, "task", &tids, &count, err);

	for (size_t i = 0; !r && i < count; i++)
		look_at(self, process, tids[i], listener);
	return r;
}

/* All processes of the machine are read for that: not at each look. */
static void find_family(struct polling *self, uint64_t now, const struct sampler_listener *listener)
{
	CLEANUP(free) pid_t *pids = NULL;
	struct followed *process;
	struct err err = { 0 };
	size_t count = 0;

	if (!self->options.children || now < self->next_family_ns)
		return;
	self->next_family_ns = now + FAMILY_NS;
	if (kin_descendants(self->options.pid, &pids, &count, &err) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (!followed_find(&self->processes, pids[i]) &&
		    !add_process(self, pids[i], &process))
			listener->process(listener->context, pids[i], self->options.pid);
}

static bool is_over(const struct polling *self)
{
	return self->options.children ? followed_all_have_ended(&self->processes)
				      : followed_has_ended(self->root);
}

int polling_drain(struct sampler *sampler, const struct sampler_listener *listener, struct err *err)
{
	struct polling *self = (struct polling *)sampler;
	uint64_t now = now_ns();
	struct err gone = { 0 };
	int r = 0;

	if (is_over(self))
		return -ESRCH;
	self->weight_ns = now - self->last_ns;
	if (self->is_stopped || self->weight_ns < 1000000000u / self->options.hz)
		return 0;
	find_family(self, now, listener);
	for (size_t i = 0; i < self->processes.count; i++) {
		struct followed *process = self->processes.items[i];

		followed_look_at_java(process, now);
		if (!followed_has_ended(process))
			r = look_at_process(self, process, listener,
					    self->options.children ? &gone : err);
	}
	if (self->root->java.why[0])
		sampler_limit(&self->base, "%s", self->root->java.why);
	self->last_ns = now;
	return self->options.children ? 0 : r;
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
	blocked_python_close(self->python);
	free(self->sample);
	free(self);
}

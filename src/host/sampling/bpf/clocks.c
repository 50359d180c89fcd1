/*
 * The clocks of the sampler "bpf": one for each thread, or for each processor where threads are too
 * many or switch too often.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND_NS 1000000000u
/* Why processors have clocks instead of threads. */
#define MANY "threads are too many for a clock each, or descriptors too few (ulimit -n)"
#define OFTEN                                                                                  \
	"threads were scheduled more than 10,000 times in a second, and a clock of their own " \
	"is set anew each time"

/* One clock for each processor serves all processes.  It starts when all others are off, so that no
 * time counts twice; closing those takes its time later. */
static void keep_only_last_clocks(struct bpf_sampler *self)
{
	size_t last = self->clocks_count - 1;

	for (size_t i = 0; i < last; i++)
		thread_clocks_switch(&self->clocks[i], false);
	thread_clocks_switch(&self->clocks[last], true);
	for (size_t i = 0; i < last; i++)
		thread_clocks_close(&self->clocks[i]);
	self->clocks[0] = self->clocks[last];
	self->clocks_count = 1;
}

int bpf_start_clocks(struct bpf_sampler *self, pid_t pid, bool is_heir, struct err *err)
{
	const struct thread_clocks_options options = {
		.pid = pid,
		.is_per_processor = self->options.is_system_wide || self->is_switching_often,
		.is_held = true,
		.event = self->options.event,
		.period_ns = SECOND_NS / self->options.hz,
		.is_inherited = true,
		.with_children = self->options.children,
		.is_heir = is_heir,
		.program = kernel_session_program(&self->session, KERNEL_SAMPLE, "sample_running"),
		.inherited_events = kernel_session_map(&self->session, "inherited_events"),
		.scans = &self->clock_scans,
	};
	int r;

	if (self->clocks_count && self->clocks[0].is_per_processor)
		return 0;
	if (make_room(&self->clocks, self->clocks_count, &self->clocks_room, sizeof(*self->clocks)))
		return err_set(err, -ENOMEM, "no memory for clocks");
	r = thread_clocks_open(&self->clocks[self->clocks_count], &options, err);
	if (r || !self->clocks[self->clocks_count++].is_per_processor)
		return r;
	keep_only_last_clocks(self);
	if (!self->options.is_system_wide)
		sampler_limit(&self->sampler,
			      "%s: each CPU has one, which interrupts other programs too",
			      self->is_switching_often ? OFTEN : MANY);
	return 0;
}

static bool has_clocks(const struct bpf_sampler *self, pid_t pid)
{
	for (size_t i = 0; i < self->clocks_count; i++)
		if (self->clocks[i].options.pid == pid || self->clocks[i].is_per_processor)
			return true;
	return !self->options.on_cpu;
}

int bpf_join(struct sampler *sampler, pid_t pid, struct err *err)
{
	struct bpf_sampler *self = (struct bpf_sampler *)sampler;
	bool is_followed = followed_find(&self->processes, pid);
	struct space *space;
	int r = 0;

	if (is_followed && has_clocks(self, pid))
		return 0;
	if (!is_followed)
		r = space_open(&space, pid, err);
	if (!is_followed && !r)
		r = bpf_follow(self, space, err);
	if (!r && !has_clocks(self, pid))
		r = bpf_start_clocks(self, pid, /* is_heir */ true, err);
	return r ? r : 1;
}

void bpf_renew_clocks(struct bpf_sampler *self, pid_t pid)
{
	struct err err = { 0 };

	if (!self->options.on_cpu || self->stopped_ns)
		return;
	if (bpf_start_clocks(self, pid, /* is_heir */ true, &err) && err.code != -ESRCH)
		sampler_limit(&self->sampler,
			      "process %d is not seen any more: it has executed a program with "
			      "more rights: %s",
			      (int)pid, err.what);
	/* Children forked meanwhile have inherited none. */
	if (self->options.children)
		(void)!family_join(&self->sampler, pid, bpf_join, &err);
}

/* Only time clocks tick as often for processors as for their threads. */
static bool may_change_clocks(const struct bpf_sampler *self)
{
	return self->options.on_cpu && !self->options.is_system_wide &&
	       event_is_time(self->options.event);
}

void bpf_measure_switches(struct bpf_sampler *self)
{
	if (may_change_clocks(self))
		self->is_switching_often = switch_rate_read(&self->switch_rate, &self->options.pid,
							    1) > SWITCH_RATE_HIGH;
}

void bpf_judge_clocks(struct bpf_sampler *self)
{
	CLEANUP(free) pid_t *pids = calloc(self->processes.count + 1, sizeof(*pids));
	struct err err = { 0 };

	if (!pids || !may_change_clocks(self) || self->is_switching_often || !self->clocks_count ||
	    self->clocks[0].is_per_processor)
		return;
	for (size_t i = 0; i < self->processes.count; i++)
		pids[i] = self->processes.items[i]->pid;
	if (switch_rate_read(&self->switch_rate, pids, self->processes.count) <= SWITCH_RATE_HIGH)
		return;
	self->is_switching_often = true;
	if (bpf_start_clocks(self, self->options.pid, /* is_heir */ false, &err))
		self->is_switching_often = false;
}

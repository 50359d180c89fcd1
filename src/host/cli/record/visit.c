/*
 * limpet record while it runs: what ends it, and its progress.
 */
#include "host/cli/record/visit.h"

#include "host/cli/common/command.h"
#include "host/core/clock.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/recording/facts.h"

#include <stdio.h>

static void show_line(const struct visit *self, uint64_t count, const char *things, uint64_t lost,
		      const char *fate)
{
	uint64_t seconds = (now_ns() - self->job.begin_ns) / 1000000000u;

	print(stderr, "\r%02lu:%02lu  %lu %s  %lu %s  %lu KiB ", seconds / 60, seconds % 60, count,
	      things, lost, fate, recorder_file_bytes(self->recorder) / 1024);
}

static enum ending visit_wait(void *context, const struct job_wait *wait)
{
	struct visit *self = context;

	return self->launched ? launched_watch(self->launched, wait->socket, wait->time_ns)
			      : ending_wait(self->signals, wait->end, wait->time_ns);
}

static int visit_ready(void *context, struct err *err)
{
	struct visit *self = context;

	return self->launched ? launch_release(&self->launched->launch, err) : 0;
}

static void visit_begun(void *context)
{
	struct visit *self = context;

	print_attached(self);
	if (self->samples)
		print_sampler_reasons(self);
	if (self->counters.note[0])
		print(stderr, "note: %s\n", self->counters.note);
	print_prefixed(stderr, "note: not counted: ", recorder_counter_reasons(self->recorder));
}

static void visit_looked(void *context)
{
	struct visit *self = context;
	struct sampling_totals sampled;
	struct tracing_totals totals;

	print_program(self);
	if (self->shows_progress && self->samples) {
		sampling_totals(recorder_sampling(self->recorder), &sampled);
		show_line(self, sampled.counts.samples, "samples", sampled.counts.lost, "lost");
	}
	if (self->shows_progress && self->traces) {
		recorder_totals(self->recorder, &totals);
		show_line(self, totals.collected.records, "records",
			  drops_sum(totals.collected.drops), "dropped");
	}
}

/* Domains that a descendant lacks are no warning: it may run another program. */
static void visit_joined(void *context, const struct tracing *tracing)
{
	struct visit *self = context;

	if (self->values->is_json && visit_has_family(self)) {
		struct json json = json_event(stdout, "traced");

		json_signed(&json, "pid", tracing->pid);
		json_object_end(&json);
	}
	for (size_t i = 0; i < self->pid_count; i++)
		if (self->pids[i] == tracing->pid)
			warn_absent(self, tracing);
}

static void visit_skipped(void *context, pid_t pid, const struct err *err)
{
	struct visit *self = context;

	self->domains_seen = UINT32_MAX; /* its domains are not known */
	warn_process_skipped("not traced: ", pid, err, self->values->is_json);
}

static void visit_left(void *context, pid_t pid, const struct session_left *left,
		       const struct err *err)
{
	(void)context;
	if (err->code)
		print(stderr, "warning: cannot detach from %d: %s\n", pid, err->what);
	for (size_t i = 0; i < left->count; i++)
		print(stderr, "warning: stays: %s\n", left->items[i]);
}

static void visit_ended(void *context, const struct tracing *tracing)
{
	struct visit *self = context;

	self->domains_held |= trace_held(&tracing->trace);
	/* The domains of a program that was not followed are not known. */
	self->domains_seen |= tracing_unfollowed(tracing) ? UINT32_MAX : ~tracing_absent(tracing);
	warn_unfollowed(tracing);
}

struct recorder_listener visit_listener(struct visit *self)
{
	return (struct recorder_listener){ .joined = visit_joined,
					   .skipped = visit_skipped,
					   .left = visit_left,
					   .ended = visit_ended,
					   .context = self };
}

int record_visit(struct visit *self, struct err *err)
{
	int r;

	self->job.recorder = self->recorder;
	self->job.unload = self->values->unload;
	self->job.times.periods = &self->period;
	self->job.times.period_count = 1;
	self->job.times.duration_ns = self->values->duration_ns;
	self->job.watcher = (struct job_watcher){ .wait = visit_wait,
						  .ready = visit_ready,
						  .begun = visit_begun,
						  .looked = visit_looked,
						  .context = self };
	r = record_job_run(&self->job, err);
	if (self->shows_progress)
		fputc('\n', stderr);
	return r;
}

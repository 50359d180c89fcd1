/*
 * The samplers "read" and "state": no perf events.  "read" reads the stacks of waiting threads from
 * outside; a running thread yields its state only, and its interpreted functions.  "state" reads
 * states only, which every user can do of any process.
 */
#include "host/process/procfs.h"
#include "host/process/rights/rights.h"
#include "host/sampling/proc/blocked_stack.h"
#include "host/sampling/proc/polling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void join_interpreted(struct polling *self)
{
	const struct sample *joined = outside_frames_join(&self->outside, self->sample);

	if (joined != self->sample)
		memcpy(self->sample, joined, sizeof(*joined) + joined->user_count * sizeof(__u64));
}

static void read_waiting(struct polling *self, struct followed *process, pid_t tid)
{
	uint64_t read_ns;
	int r = blocked_stack_read(self->sample, &read_ns, process->space, tid, &self->outside);

	if (!r && (self->sample->end == STACK_NO_MAP || self->sample->end == STACK_NO_TABLE) &&
	    followed_retry(process))
		r = blocked_stack_read(self->sample, &read_ns, process->space, tid, &self->outside);
	if (r < 0) {
		self->sample->end = STACK_UNREADABLE;
		self->sample->user_count = 0;
		self->sample->flags = 0;
		return;
	}
	join_interpreted(self);
}

/* Native frames of a running thread are in its registers; those of interpreters are all in memory.
 */
static void read_stack(struct polling *self, struct followed *process, pid_t tid)
{
	followed_use_outside(process, &self->outside, &self->base);
	if (self->sample->kind == SAMPLE_BLOCKED) {
		read_waiting(self, process, tid);
		return;
	}
	outside_frames_read(&self->outside, process->pid, tid);
	join_interpreted(self);
	if (self->sample->user_count)
		self->sample->end = STACK_COMPLETE;
}

/* The same file and the same check as for each later stack. */
static int read_probe(pid_t pid, struct err *err)
{
	char name[64], text[256];
	ssize_t r;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)pid);
	r = proc_read_small(pid, name, text, sizeof(text), err);
	if (r != -EACCES && r != -EPERM)
		return (int)MIN(r, 0);
	err_set(err, (int)r, "read the stacks of waiting threads: %s", strerror((int)-r));
	err_exit(err, EXIT_NOT_PERMITTED);
	err_why(err, "only its own user, or CAP_SYS_PTRACE, may read a process's memory (and "
		     "kernel.yama.ptrace_scope may ask for more)");
	return err_fix(err, "%s", rights_fix());
}

static int read_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	struct polling *self;
	int r = read_probe(options->pid, err);

	if (r < 0)
		return r;
	r = polling_open(&self, &sampler_read, options, err);
	if (r < 0)
		return r;
	self->stack = read_stack;
	sampler_limit(&self->base,
		      "stacks of waiting threads only (Python functions also of those that run), "
		      "at most %u times a second%s",
		      POLLING_HZ_MAX,
		      options->children ? "; children are found once a second" : "");
	*ret = &self->base;
	return 0;
}

const struct sampler_kind sampler_read = {
	.name = "read",
	.summary = "reads the stacks of waiting threads from outside",
	.open = read_open,
	.drain = polling_drain,
	.stop = polling_stop,
	.counts = polling_counts,
	.close = polling_close,
};

static int state_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	struct polling *self;
	int r = polling_open(&self, &sampler_state, options, err);

	if (r < 0)
		return r;
	sampler_limit(&self->base, "states of threads only, no stacks%s",
		      options->children ? "; children are found once a second" : "");
	*ret = &self->base;
	return 0;
}

const struct sampler_kind sampler_state = {
	.name = "state",
	.summary = "looks at the states of threads",
	.open = state_open,
	.drain = polling_drain,
	.stop = polling_stop,
	.counts = polling_counts,
	.close = polling_close,
};

/*
 * The sampler "read": no perf events.  The stacks of waiting threads are read from outside; a
 * running thread yields its state only, and its interpreted functions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/process/procfs.h"
#include "host/process/rights/rights.h"
#include "host/sampling/proc/blocked_stack.h"
#include "host/sampling/proc/polling.h"

static int read_refuse(int code, struct err *err)
{
	err_set(err, code, "read the stacks of waiting threads: %s", strerror(-code));
	err_exit(err, EXIT_NOT_PERMITTED);
	err_why(err, "only its own user, or CAP_SYS_PTRACE, may read a process's memory (and "
		     "kernel.yama.ptrace_scope may ask for more)");
	return err_fix(err, "%s", rights_fix());
}

static void join_interpreted(struct polling *self)
{
	const struct sample *joined = outside_frames_join(&self->outside, self->sample);

	if (joined != self->sample)
		memcpy(self->sample, joined, sizeof(*joined) + joined->user_count * sizeof(__u64));
}

static void read_waiting(struct polling *self, struct followed *process, pid_t tid)
{
	struct blocked_stack stack;
	int r = blocked_stack_read(&stack, process->space, tid, self->sample->frames,
				   SAMPLE_FRAMES_MAX, &self->outside);

	if (!r && (stack.end == STACK_NO_MAP || stack.end == STACK_NO_TABLE) &&
	    followed_retry(process))
		r = blocked_stack_read(&stack, process->space, tid, self->sample->frames,
				       SAMPLE_FRAMES_MAX, &self->outside);
	if (r < 0) {
		self->sample->end = STACK_UNREADABLE;
		return;
	}
	self->sample->user_count = (uint16_t)stack.count;
	self->sample->end = (uint8_t)stack.end;
	self->sample->flags = stack.is_guessed ? SAMPLE_GUESSED : 0;
	join_interpreted(self);
}

/* Native frames of a running thread are in its registers; those of interpreters are all in memory.
 */
static void read_running(struct polling *self, struct followed *process, pid_t tid)
{
	outside_frames_read(&self->outside, process->pid, tid);
	join_interpreted(self);
	if (self->sample->user_count)
		self->sample->end = STACK_COMPLETE;
}

static void read_stack(struct polling *self, struct followed *process, pid_t tid)
{
	followed_use_outside(process, &self->outside, &self->base);
	(self->sample->kind == SAMPLE_BLOCKED ? read_waiting : read_running)(self, process, tid);
}

/* The same file and the same check as for each later stack. */
static int read_probe(pid_t pid, struct err *err)
{
	char name[64], text[256];
	ssize_t r;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)pid);
	r = proc_read_small(pid, name, text, sizeof(text), err);
	return r == -EACCES || r == -EPERM ? read_refuse((int)r, err) : (int)MIN(r, 0);
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

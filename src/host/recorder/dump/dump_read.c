/*
 * Reads the stacks of waiting threads from outside, and samples running threads; stops nothing.
 */
#include "host/recorder/dump/dump_private.h"

#include "host/core/clock.h"
#include "host/process/rights/rights.h"
#include "host/sampling/generated_code.h"
#include "host/sampling/interpreter_stacks.h"
#include "host/sampling/proc/blocked_stack.h"
#include "host/sampling/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The time limit for running threads: each of them needs a moment on a processor. */
#define RUNNING_NS      1000000000u
#define RUNNING_HZ      499u
#define RUNNING_STEP_NS 5000000
#define READ_ATTEMPTS   4u /* for a thread that runs meanwhile */

/* The state of reading threads from outside. */
struct reading {
	struct dump *dump;
	const struct space *space;
	struct outside_frames outside;
	struct sample *sample;
};

/* A running thread has its native frames in registers; its Python frames are in memory. */
static int read_running(struct reading *self, struct dumped_thread *thread)
{
	const struct sample *joined;
	int r;

	*self->sample =
		(struct sample){ .tid = (uint32_t)thread->facts.tid, .end = STACK_COMPLETE };
	self->outside.count = 0;
	dump_settle_wait(self->dump, thread);
	outside_frames_read(&self->outside, self->space->pid, thread->facts.tid);
	joined = outside_frames_join(&self->outside, self->sample);
	if (joined == self->sample || !joined->user_count)
		return 0;
	r = dump_keep(self->dump, joined, self->space);
	thread->is_partial = !r;
	return r;
}

/* -EAGAIN: the thread is running. */
static int read_one(struct reading *self, struct dumped_thread *thread)
{
	struct sample *sample = self->sample;
	uint64_t read_ns;
	int r = -EAGAIN;

	*sample = (struct sample){ .tid = (uint32_t)thread->facts.tid };
	for (unsigned i = 0; r == -EAGAIN && i < READ_ATTEMPTS; i++) {
		dump_read_wait(self->dump, thread);
		r = blocked_stack_read(sample, &read_ns, self->space, thread->facts.tid,
				       &self->outside);
	}
	if (r)
		return r;
	if (thread->facts.state == 'R')
		thread->facts.state = 'S';
	dump_settle_wait(self->dump, thread);
	return dump_keep(self->dump, outside_frames_join(&self->outside, sample), self->space);
}

static int read_all(struct reading *self)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->dump->count; i++) {
		struct dumped_thread *thread = &self->dump->threads[i];

		r = read_one(self, thread);
		if (r == -EAGAIN) {
			if (thread->facts.state == 'S')
				thread->facts.state = 'R';
			r = read_running(self, thread);
		}
		r = r == -ESRCH ? 0 : r;
	}
	return r;
}

static int read_waiting(struct dump *self, const struct space *space, struct err *err)
{
	char why[256] = "";
	struct reading reading = {
		.dump = self,
		.space = space,
		.sample = calloc(1, sizeof(struct sample) + SAMPLE_FRAMES_MAX * sizeof(__u64)),
	};
	int r;

	outside_frames_open(&reading.outside, space, why, sizeof(why));
	r = reading.sample ? read_all(&reading) : -ENOMEM;
	if (why[0])
		dump_note(self, "%s", why);
	interpreter_stacks_done(&reading.outside.stacks);
	interpreter_close(reading.outside.interpreter);
	free(reading.sample);
	if (!r)
		return 0;
	err_set(err, r, "read the stacks of waiting threads: %s", strerror(-r));
	err_fix(err, "%s", rights_fix());
	return r == -EACCES || r == -EPERM ? err_exit(err, EXIT_NOT_PERMITTED) : r;
}

static void keep_running(void *context, const struct sample *sample, struct space *space)
{
	const struct dumped_thread *thread = dump_thread_of(context, sample->tid);

	if (!thread || (thread->has_stack && !thread->is_partial))
		return;
	(void)!dump_keep(context, sample, space);
	dump_note_state(context, sample);
}

static void ignore_process(void *context, const struct sampled_process *process)
{
	(void)context;
	(void)process;
}

static bool is_one_missing(const struct dump *self)
{
	for (size_t i = 0; i < self->count; i++)
		if ((!self->threads[i].has_stack || self->threads[i].is_partial) &&
		    self->threads[i].facts.state == 'R')
			return true;
	return false;
}

/* The stack of a running thread cannot be read: these are sampled until each was met.  Where that
 * is not allowed, they are shown without. */
static void sample_running(struct dump *self)
{
	const struct sampler_options options = { .pid = self->pid,
						 .hz = RUNNING_HZ,
						 .on_cpu = true };
	const struct sampler_listener listener = { keep_running, ignore_process, self };
	uint64_t begin_ns = now_ns();
	struct sampler *sampler;
	struct err ignored = { 0 };

	if (!is_one_missing(self) || sampler_copy.open(&sampler, &options, &ignored))
		return;
	while (is_one_missing(self) && now_ns() - begin_ns < RUNNING_NS) {
		sleep_ns(RUNNING_STEP_NS);
		if (sampler_copy.drain(sampler, &listener, &ignored))
			break;
	}
	sampler_close(sampler);
}

int dump_by_reading(struct dump *self, bool with_kernel, struct err *err)
{
	struct generated_code java = { 0 };
	struct space *space;
	int r = space_open(&space, self->pid, err);

	(void)with_kernel;
	if (r == -EACCES || r == -EPERM) {
		err_fix(err, "%s", rights_fix());
		err_exit(err, EXIT_NOT_PERMITTED);
	}
	if (r)
		return r;
	generated_code_read(&java, space);
	if (java.why[0])
		dump_note(self, "%s", java.why);
	generated_code_done(&java);
	r = dump_list(self, err);
	if (!r)
		r = read_waiting(self, space, err);
	space_close(space);
	if (!r)
		sample_running(self);
	return r;
}

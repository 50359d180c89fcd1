/*
 * Time off the processor, for the sampler "copy": the kernel records when a thread leaves and
 * returns, and, where allowed, the stack with which it leaves.  Else the stacks of sleeping threads
 * are read from outside; a sleep that is shorter than the time between two readings gets the stack
 * of an earlier one, as a guess.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"
#include "host/sampling/copy/copy.h"
#include "host/sampling/proc/blocked_stack.h"

#define LEAVING_MOST   20000u /* stacks of switches in a second */
#define JUDGED_EACH_NS 100000000u

static int mark_sleepers(struct copy_sampler *self)
{
	for (size_t i = 0; i < self->processes.count; i++) {
		CLEANUP(free) pid_t *tids = NULL;
		pid_t pid = self->processes.items[i]->pid;
		struct process_stat stat;
		struct err err = { 0 };
		size_t count = 0;

		(void)!proc_list(pid, "task", &tids, &count, &err);
		for (size_t k = 0; k < count; k++) {
			struct off_thread *thread;

			if (stat_read(pid, tids[k], &stat, &err) < 0 || stat.state == 'R')
				continue;
			thread = off_cpu_thread(&self->off_cpu, pid, tids[k]);
			if (!thread)
				return -ENOMEM;
			thread->is_out = true;
			thread->since_ns = now_ns();
		}
	}
	return 0;
}

/* Stacks are read twice: the first time makes the unwind tables, which may take longer than the
 * sleeps; stacks read after the begin belong to sleeps whose end is recorded.  Where that fails,
 * the first one is a guess. */
int copy_begin_switches(struct copy_sampler *self)
{
	int r = mark_sleepers(self);

	if (r < 0)
		return r;
	copy_read_sleepers(self);
	for (size_t i = 0; i < self->off_cpu.count; i++)
		self->off_cpu.items[i].is_out = self->off_cpu.items[i].has_stack = false;
	r = mark_sleepers(self);
	perf_events_switch(&self->events, true);
	copy_read_sleepers(self);
	return r;
}

static void sched_switch_fill(struct sample *sample, const struct off_thread *thread, uint64_t now)
{
	bool is_own = off_thread_owns_stack(thread, now);
	const struct sample *stack = thread->stack;

	*sample = (struct sample){
		.time_ns = now,
		.weight_ns = now - MIN(thread->since_ns, now),
		.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.kind = thread->is_preempted ? SAMPLE_RUNNABLE : SAMPLE_BLOCKED,
		.state = thread->is_preempted ? 'R' : 'S',
		.end = STACK_NO_USER,
	};
	if (!stack || (!is_own && thread->is_preempted))
		return;
	sample->end = stack->end;
	/* A sleep too short to be read: uses the stack of its last sleep, or of the next. */
	sample->flags = stack->flags | (is_own ? 0 : SAMPLE_GUESSED);
	sample->kernel_count = stack->kernel_count;
	sample->user_count = stack->user_count;
	memcpy(sample->frames, stack->frames,
	       ((size_t)stack->kernel_count + stack->user_count) * sizeof(*stack->frames));
}

static void thread_returned(struct copy_round *round, struct off_thread *thread, uint64_t now)
{
	struct copy_sampler *self = round->self;
	struct followed *process = copy_process_of(round, thread->pid);

	if (thread->is_out && process) {
		sched_switch_fill(self->sample, thread, now);
		copy_emit(round, process);
	}
	thread->is_out = false;
	if (off_thread_owns_stack(thread, now))
		thread->has_stack = false;
}

int copy_on_switch(struct copy_round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	struct off_thread *thread;

	if (!copy_process_of(round, record->pid) ||
	    !coverage_counts(&self->coverage, &self->events, record->tid, record->id))
		return 0;
	thread = off_cpu_thread(&self->off_cpu, record->pid, record->tid);
	if (!thread)
		return -ENOMEM;
	if (!(record->header->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		thread_returned(round, thread, record->time_ns);
		return 0;
	}
	thread->is_out = true;
	thread->is_preempted = record->header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	thread->since_ns = record->time_ns;
	return 0;
}

int copy_on_leaving(struct copy_round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	struct followed *process = copy_process_of(round, record->pid);
	struct off_thread *thread;
	struct perf_sample from;

	if (!process)
		return 0;
	if (perf_sample_read(&from, record,
			     self->events.attrs.items[COPY_SWITCHES].sample_type &
				     PERF_SAMPLE_CALLCHAIN) < 0)
		return -EBADMSG;
	from.kernel_count = MIN(from.kernel_count, COPY_KERNEL_FRAMES);
	thread = off_cpu_thread(&self->off_cpu, record->pid, record->tid);
	if (!thread)
		return -ENOMEM;
	self->leaving++;
	copy_walk(self, &from, process);
	copy_add_interpreted(self, process, record->tid, record->time_ns);
	return off_thread_keep_stack(thread, self->sample, /* read_ns */ 0);
}

/* Each is a copy of the stack: so many would cost the target more than they are worth. */
void copy_judge_switches(struct copy_sampler *self)
{
	uint64_t now = now_ns(), elapsed = now - self->judged_ns;
	uint64_t count = self->leaving + (self->counts.lost - self->lost_before);

	if (elapsed < JUDGED_EACH_NS)
		return;
	if (self->judged_ns && self->events.attrs.count > COPY_SWITCHES &&
	    count * 1000000000u > elapsed * LEAVING_MOST) {
		perf_events_drop_last(&self->events);
		sampler_limit(&self->base,
			      "more than %u switches a second: stacks of short sleeps are guesses",
			      LEAVING_MOST);
	}
	self->leaving = 0;
	self->lost_before = self->counts.lost;
	self->judged_ns = now;
}

void copy_read_sleepers(struct copy_sampler *self)
{
	for (size_t i = 0; i < self->off_cpu.count; i++) {
		struct off_thread *thread = &self->off_cpu.items[i];
		struct followed *process = followed_find(&self->processes, thread->pid);
		uint64_t read_ns;

		if (!process || !thread->is_out || thread->is_preempted || thread->has_stack)
			continue;
		(void)copy_use_outside(self, process);
		if (!blocked_stack_read(self->sample, &read_ns, process->space, thread->tid,
					&self->outside) &&
		    off_thread_keep_stack(thread, outside_frames_join(&self->outside, self->sample),
					  read_ns))
			thread->has_stack = false;
	}
}

void copy_flush_switches(struct copy_round *round)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < round->self->off_cpu.count; i++)
		thread_returned(round, &round->self->off_cpu.items[i], now);
}

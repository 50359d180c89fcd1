/*
 * The second rung: perf copies registers and a piece of the stack into a ring, and we unwind that
 * by the same tables as the kernel's program would.  Needs no right for processes of the same user.
 * The target is never stopped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/core/cleanup.h"
#include "host/sampling/copied_stack.h"
#include "host/sampling/coverage.h"
#include "host/sampling/processes.h"
#include "host/sampling/sampler.h"

#define STACK_FIRST   (16u << 10)
#define STACK_MOST    65528u /* what the size of a record leaves room for */
#define JUDGED_FROM   10u    /* samples, before the size of the copy is judged */
#define KERNEL_FRAMES 128u

struct copy_sampler {
	struct sampler base; /* first */
	struct sampler_options options;
	struct perf_events events;
	struct coverage coverage;
	struct processes processes;
	struct sampler_counts counts;
	uint64_t judged, ran_off; /* since the copy has its size */
	bool is_stopped;
	struct sample *sample; /* with room for the most frames */
};

/* One call of drain(). */
struct round {
	struct copy_sampler *self;
	const struct sampler_listener *listener;
};

static struct perf_event_attr make_attr(const struct sampler_options *options)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / options->hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			       (options->kernel_frames ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_regs_user = perf_register_mask(),
		.sample_stack_user = STACK_FIRST,
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
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* Steps down where the kernel allows or knows less; what is given up is said. */
static int open_rings(struct copy_sampler *self, struct err *err)
{
	struct perf_event_attr attr = make_attr(&self->options);
	int r = perf_events_init(&self->events, &attr, self->options.pid, err);

	if (r == -EINVAL && attr.inherit_thread) {
		attr.inherit_thread = 0; /* Linux before 5.13 */
		r = perf_events_init(&self->events, &attr, self->options.pid, err);
	}
	if (r != -EACCES && r != -EPERM)
		return r;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	snprintf(self->base.limits, sizeof(self->base.limits),
		 "time inside the kernel is not seen: run as root, or: sysctl "
		 "kernel.perf_event_paranoid=1");
	return perf_events_init(&self->events, &attr, self->options.pid, err);
}

static void copy_close(struct sampler *sampler)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;

	perf_events_done(&self->events);
	coverage_done(&self->coverage);
	processes_done(&self->processes);
	free(self->sample);
	free(self);
}

static void copy_close_half(struct copy_sampler *self)
{
	copy_close(&self->base);
}

DEFINE_CLEANUP(struct copy_sampler *, copy_close_half)

static int copy_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	CLEANUP(copy_close_half) struct copy_sampler *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for a sampler");
	self->base.kind = &sampler_copy;
	self->options = *options;
	self->sample = calloc(1, sizeof(*self->sample) +
					 (SAMPLE_FRAMES_MAX + KERNEL_FRAMES) * sizeof(uint64_t));
	if (!self->sample)
		return err_set(err, -ENOMEM, "no memory for a sampler");
	r = open_rings(self, err);
	if (!r)
		r = processes_add(&self->processes, options->pid, err);
	if (!r)
		r = coverage_open(&self->coverage, &self->events, options->pid, err);
	if (r < 0)
		return r;
	perf_events_switch(&self->events, true);
	*ret = &TAKE(self)->base;
	return 0;
}

/* A larger copy: events of that size beside the old ones, then the switch. */
static int enlarge(struct copy_sampler *self, struct err *err)
{
	struct perf_event_attr attr = self->events.attr;
	struct perf_events larger;
	int r = 0;

	attr.sample_stack_user = MIN(attr.sample_stack_user * 2, STACK_MOST);
	larger = perf_events_beside(&self->events, &attr);
	for (size_t i = 0; !r && i < self->processes.count; i++)
		if (!process_has_ended(&self->processes.items[i]))
			r = coverage_open(&self->coverage, &larger, self->processes.items[i].pid,
					  err);
	if (r < 0) {
		perf_events_abandon(&larger);
		return r == -ESRCH ? 0 : r;
	}
	perf_events_switch(&self->events, false);
	perf_events_switch(&larger, true);
	perf_events_replace(&self->events, &larger);
	self->judged = self->ran_off = 0;
	return 0;
}

/* More than one in a hundred did not fit. */
static bool is_too_small(const struct copy_sampler *self)
{
	return self->judged >= JUDGED_FROM && self->ran_off * 100 > self->judged &&
	       self->events.attr.sample_stack_user < STACK_MOST && !self->is_stopped;
}

static struct walk_result walk_copy(struct copy_sampler *self, const struct perf_sample *from,
				    const struct space *space, struct copied_stack *stack)
{
	const struct memory_reader reader = { copied_stack_read, stack };

	stack->ran_off = stack->is_guessed = false;
	return stack_walk(space, &from->registers, &reader,
			  self->sample->frames + from->kernel_count, SAMPLE_FRAMES_MAX);
}

/* A stack that leaves what is known may be in code that was mapped since. */
static struct walk_result walk(struct copy_sampler *self, const struct perf_sample *from,
			       struct process_entry *process, bool *ret_guessed)
{
	struct copied_stack stack = {
		.sample = from,
		.pid = process->pid,
	};
	struct walk_result result = walk_copy(self, from, process->space, &stack);

	if ((result.end == STACK_NO_MAP || result.end == STACK_NO_TABLE) && process_retry(process))
		result = walk_copy(self, from, process->space, &stack);
	self->judged++;
	self->ran_off += stack.ran_off;
	*ret_guessed = stack.is_guessed;
	return result;
}

static void fill_sample(struct copy_sampler *self, const struct perf_record *record,
			const struct perf_sample *from, struct process_entry *process)
{
	struct walk_result result = { .end = STACK_NO_USER };
	bool is_guessed = false;

	memcpy(self->sample->frames, from->kernel, from->kernel_count * sizeof(uint64_t));
	if (from->has_user)
		result = walk(self, from, process, &is_guessed);
	self->sample->time_ns = record->time_ns;
	self->sample->weight_ns = self->events.attr.sample_period;
	self->sample->pid = (uint32_t)record->pid;
	self->sample->tid = (uint32_t)record->tid;
	self->sample->cpu = record->cpu;
	self->sample->kind = SAMPLE_RUNNING;
	self->sample->end = (uint8_t)result.end;
	self->sample->flags = is_guessed ? SAMPLE_GUESSED : 0;
	self->sample->state = 'R';
	self->sample->kernel_count = (uint16_t)from->kernel_count;
	self->sample->user_count = (uint16_t)result.count;
}

/* Who is not known was born in a moment that no record tells of. */
static struct process_entry *process_of(struct round *round, pid_t pid)
{
	struct copy_sampler *self = round->self;
	struct process_entry *process = processes_find(&self->processes, pid);

	if (process || !self->options.children)
		return process;
	process = processes_add_child(&self->processes, pid, self->options.pid);
	if (process)
		round->listener->process(round->listener->context, pid, self->options.pid);
	return process;
}

static int hear_sample(struct round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	struct process_entry *process = process_of(round, record->pid);
	struct perf_sample from;

	if (!process || !coverage_counts(&self->coverage, &self->events, record->tid, record->id))
		return 0;
	if (perf_sample_read(&from, record, self->events.attr.sample_type & PERF_SAMPLE_CALLCHAIN) <
	    0)
		return -EBADMSG;
	from.kernel_count = MIN(from.kernel_count, KERNEL_FRAMES);
	process_freshen(process);
	fill_sample(self, record, &from, process);
	self->counts.samples++;
	self->counts.ends[self->sample->end]++;
	round->listener->sample(round->listener->context, self->sample, process->space);
	return 0;
}

/* Both begin as the header does, then { id, lost } or { lost }. */
static int hear_lost(struct round *round, const struct perf_record *record)
{
	uint64_t words[2];

	memcpy(words, record->header + 1, sizeof(words));
	round->self->counts.lost += record->header->type == PERF_RECORD_LOST ? words[1] : words[0];
	return 0;
}

static int hear_mapping(struct round *round, const struct perf_record *record)
{
	struct process_entry *process = processes_find(&round->self->processes, record->pid);

	if (process)
		process->is_stale = true;
	return 0;
}

static int hear_name(struct round *round, const struct perf_record *record)
{
	struct process_entry *process = processes_find(&round->self->processes, record->pid);

	if (!process || !(record->header->misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	process->is_stale = process->is_new_image = true;
	round->listener->process(round->listener->context, record->pid, record->pid);
	return 0;
}

/* { pid, ppid, tid, ptid, time } of the new one. */
static int hear_birth(struct round *round, const struct perf_record *record)
{
	struct copy_sampler *self = round->self;
	uint32_t ids[4];

	memcpy(ids, record->header + 1, sizeof(ids));
	if (ids[0] == ids[1] || !self->options.children ||
	    processes_find(&self->processes, (pid_t)ids[0]))
		return 0;
	if (!processes_add_child(&self->processes, (pid_t)ids[0], (pid_t)ids[1]))
		return -ENOMEM;
	round->listener->process(round->listener->context, (pid_t)ids[0], (pid_t)ids[1]);
	return 0;
}

static int hear_end(struct round *round, const struct perf_record *record)
{
	coverage_forget(&round->self->coverage, record->tid);
	return 0;
}

/* By the type of the record; what is not here says nothing to us. */
static int (*const hearing[])(struct round *round, const struct perf_record *record) = {
	[PERF_RECORD_MMAP] = hear_mapping,  [PERF_RECORD_LOST] = hear_lost,
	[PERF_RECORD_COMM] = hear_name,     [PERF_RECORD_EXIT] = hear_end,
	[PERF_RECORD_FORK] = hear_birth,    [PERF_RECORD_SAMPLE] = hear_sample,
	[PERF_RECORD_MMAP2] = hear_mapping, [PERF_RECORD_LOST_SAMPLES] = hear_lost,
};

static int hear_all(struct round *round, const struct perf_batch *batch)
{
	int r = 0;

	for (size_t i = 0; !r && i < batch->count; i++) {
		unsigned type = batch->items[i].header->type;

		if (type < ARRAY_SIZE(hearing) && hearing[type])
			r = hearing[type](round, &batch->items[i]);
	}
	return r;
}

static bool has_ended(const struct copy_sampler *self)
{
	return self->options.children ? processes_have_ended(&self->processes)
				      : process_has_ended(&self->processes.items[0]);
}

static int copy_drain(struct sampler *sampler, const struct sampler_listener *listener,
		      struct err *err)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;
	struct round round = { self, listener };
	bool is_last = has_ended(self); /* asked first: nothing comes behind what is taken now */
	struct perf_batch batch;
	int r = perf_batch_take(&batch, &self->events);

	if (r < 0)
		return err_set(err, r, "take samples: %s", strerror(-r));
	processes_begin_round(&self->processes);
	r = hear_all(&round, &batch);
	perf_batch_done(&batch, &self->events);
	if (r < 0)
		return err_set(err, r, "read samples: %s", strerror(-r));
	if (is_last)
		return -ESRCH;
	return is_too_small(self) ? enlarge(self, err) : 0;
}

static void copy_stop(struct sampler *sampler)
{
	struct copy_sampler *self = (struct copy_sampler *)sampler;

	perf_events_switch(&self->events, false);
	self->is_stopped = true;
}

static struct sampler_counts copy_counts(const struct sampler *sampler)
{
	return ((const struct copy_sampler *)sampler)->counts;
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

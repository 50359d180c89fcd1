/*
 * What the files of the sampler "copy" share: copy.c opens and drains, records.c handles perf's
 * records, samples.c walks stacks, sched_switch.c follows threads off the processor.
 */
#pragma once

#include "host/sampling/copy/copied_stack.h"
#include "host/sampling/copy/coverage.h"
#include "host/sampling/copy/perf_records.h"
#include "host/sampling/copy/watchers.h"
#include "host/sampling/followed.h"
#include "host/sampling/off_cpu.h"
#include "host/sampling/priority.h"
#include "host/sampling/sampler.h"
#include "host/sampling/throttle.h"

#define COPY_KERNEL_FRAMES 128u

/* The attributes of its events, by their index. */
enum copy_event {
	COPY_CLOCK,    /* a sample each period on the processor; and all other records */
	COPY_SWITCHES, /* a sample each time a thread leaves the processor, where allowed */
};

struct copy_sampler {
	struct sampler base; /* first */
	struct sampler_options options;
	struct priority priority;
	struct throttle throttle;
	struct perf_events events;
	struct coverage coverage;
	struct watchers *watchers; /* NULL: none, or not yet */
	struct followed_set processes;
	struct followed *root; /* the named process */
	struct off_cpu off_cpu;
	struct sampler_counts counts;
	uint64_t opened_ns;
	uint64_t holes_left_ns; /* of STACK_HOLES_NS */
	uint64_t lost_in_rings; /* by the kernel's count, of events closed or stopped */
	struct stack_need need;
	uint64_t leaving, lost_before, judged_ns; /* stacks of switches since judged_ns */
	bool has_begun, is_stopped, is_flushed, has_interpreter, has_tried_watchers;
	struct sample *sample; /* with room for the maximum of frames */
	struct outside_frames outside;
};

/* One call of drain(). */
struct copy_round {
	struct copy_sampler *self;
	const struct sampler_listener *listener;
};

static inline uint64_t copy_period_ns(const struct sampler_options *options)
{
	return 1000000000u / options->hz;
}

/* Handles the records of a round, in the order of their times. */
int copy_handle_records(struct copy_round *round, const struct perf_batch *batch) MUST_CHECK;

/* The process of a record; NULL: it is not sampled, or no memory. */
struct followed *copy_process_of(struct copy_round *round, pid_t pid);

/* Walks the stack of a sample into self->sample: frames, counts, end and flags. */
void copy_walk(struct copy_sampler *self, const struct perf_sample *from, struct followed *process);
/* Adds interpreted frames to self->sample, which was taken at that time. */
void copy_add_interpreted(struct copy_sampler *self, struct followed *process, pid_t tid,
			  uint64_t time_ns);
/* Lets self->outside read this process.  False: it has no interpreter that can be read. */
bool copy_use_outside(struct copy_sampler *self, struct followed *process);
/* Counts self->sample and passes it to the listener. */
void copy_emit(struct copy_round *round, struct followed *process);

/* Switches the events on.  Threads asleep count as asleep from now on, with a stack read from
 * outside.  -ENOMEM. */
int copy_begin_switches(struct copy_sampler *self) MUST_CHECK;
int copy_on_switch(struct copy_round *round, const struct perf_record *record);
/* A sample of COPY_SWITCHES: the stack with which a thread leaves. */
int copy_on_leaving(struct copy_round *round, const struct perf_record *record);
/* Stops copying stacks of switches where there are too many. */
void copy_judge_switches(struct copy_sampler *self);
/* Reads the stacks of sleeping threads without one: they slept before sampling began, or the kernel
 * gives no stacks. */
void copy_read_sleepers(struct copy_sampler *self);
/* Emits the threads still asleep when sampling has stopped. */
void copy_flush_switches(struct copy_round *round);

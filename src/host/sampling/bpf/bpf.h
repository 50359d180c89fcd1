/*
 * Private to the sampler "bpf": bpf.c starts and ends it, records.c handles what its kernel
 * programs send.
 */
#pragma once

#include "host/sampling/bpf/kernel_tables.h"
#include "host/sampling/bpf/off_cpu.h"
#include "host/sampling/bpf/stack_rest.h"
#include "host/sampling/bpf/switch_rate.h"
#include "host/sampling/bpf/system_wide.h"
#include "host/sampling/bpf/thread_clocks.h"
#include "host/sampling/followed.h"
#include "host/sampling/priority.h"
#include "host/sampling/sampler.h"
#include "host/sampling/throttle.h"

#define BPF_LINKS_MAX 8

struct bpf_sampler {
	struct sampler sampler;
	struct sampler_options options;
	struct sampler_counts counts; /* without lost ones, which the kernel counts */
	struct priority priority;
	struct throttle throttle;
	struct kernel_session session;
	struct kernel_tables tables;
	struct thread_clocks *clocks; /* one for each initial process */
	size_t clocks_count, clocks_room;
	uint32_t clock_looks; /* scans for threads that may have inherited clocks */
	struct switch_rate switch_rate;
	bool is_switching_often; /* then each processor has a clock, not each thread */
	struct bpf_link *links[BPF_LINKS_MAX];
	size_t link_count;
	struct ring_buffer *ring;
	struct followed_set processes;
	struct off_cpu_threads off_cpu_threads;
	struct interpreter_stacks interpreter_stacks;
	struct java_code first_java; /* of the first process, until it is followed */
	uint64_t stopped_ns;         /* 0 while it runs */
	uint64_t turn_ends_ns;       /* when to interrupt draining for other work */
	bool is_flushed;
	struct system_wide system; /* for sampling of all processes */
	uint64_t next_look_ns;
	const struct sampler_listener *listener; /* during drain() */
	int failure;                             /* while handling a record */
	union whole_sample walked;               /* a record whose stack was walked in user space */
};

/* One record from the ring; for libbpf. */
int bpf_record(void *context, void *data, size_t size);

/* Periodic work: mappings that changed, processes that ended without a record.  has_records: more
 * records are pending, possibly of processes that have ended. */
void bpf_look_around(struct bpf_sampler *self, uint64_t now_ns, bool has_records);

/* At the end, the samples of threads that are still off the processor. */
void bpf_flush_off_cpu(struct bpf_sampler *self);

/* The kernel closes the clocks of a program that has gained rights: opens new ones. */
void bpf_renew_clocks(struct bpf_sampler *self, pid_t pid);

/* Gives each processor a clock instead of each thread, once threads switch too often. */
void bpf_judge_clocks(struct bpf_sampler *self);

/* System-wide: reads a process that is not known yet, with its mappings and whatever else is
 * readable. */
void bpf_read_anew(struct bpf_sampler *self, struct followed *process);
void bpf_tell(struct bpf_sampler *self, const struct sampled_process *process);
void bpf_forget(struct bpf_sampler *self, pid_t pid);

/* Follows a process with a space of its own, which this owns from now on. */
int bpf_follow(struct bpf_sampler *self, struct space *space, struct err *err) MUST_CHECK;

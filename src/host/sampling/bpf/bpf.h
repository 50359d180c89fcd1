/*
 * Private to the sampler "bpf": bpf.c starts and ends it, records.c handles what its kernel
 * programs send, clocks.c has the events at which they run, processes.c knows the processes.
 */
#pragma once

#include "host/sampling/bpf/kernel_tables.h"
#include "host/sampling/bpf/sched_switch.h"
#include "host/sampling/bpf/sent_stack.h"
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
	uint32_t clock_scans; /* for threads that may have inherited clocks */
	struct switch_rate switch_rate;
	bool is_switching_often; /* then each processor has a clock, not each thread */
	struct bpf_link *links[BPF_LINKS_MAX];
	size_t link_count;
	struct ring_buffer *ring;
	struct followed_set processes;
	struct off_cpu_threads off_cpu_threads;
	struct interpreter_stacks interpreter_stacks;
	struct generated_code first_code; /* of the first process, until it is followed */
	uint64_t stopped_ns;              /* 0 while it runs */
	uint64_t turn_ends_ns;            /* when to interrupt draining for other work */
	bool is_flushed;
	struct system_wide system; /* for sampling of all processes */
	uint64_t next_check_ns;
	const struct sampler_listener *listener; /* during drain() */
	int failure;                             /* while handling a record */
	union whole_sample walked;               /* a record whose stack was walked in user space */
};

/* processes.c */

/* The process, new if it was not known; NULL: no memory. */
struct followed *bpf_process(struct bpf_sampler *self, pid_t pid, pid_t parent);
/* Follows a process with a space of its own, which this owns from now on. */
int bpf_follow(struct bpf_sampler *self, struct space *space, struct err *err) MUST_CHECK;
/* Forgets a process that has ended. */
void bpf_forget(struct bpf_sampler *self, pid_t pid);
/* Reads a process that is not known yet, or executes another program now. */
void bpf_read_new(struct bpf_sampler *self, struct followed *process);
/* Reads its mappings again.  has_asked: the programs met code in none of them. */
void bpf_refresh(struct bpf_sampler *self, struct followed *process, bool has_asked);
/* The same for code that its Java has compiled.  False: nothing is new. */
bool bpf_refresh_java(struct bpf_sampler *self, struct followed *process);
/* Finds its interpreter, whose frames the programs send from then on. */
void bpf_find_interpreter(struct bpf_sampler *self, struct followed *process);
#define BPF_CHECK_NS 1000000000ull /* between readings of mappings of processes that run */

/* Reads again what may have changed without a record; lets programs ask again that asked in vain.
 * with_ends: forgets processes that have ended without a record. */
void bpf_check_processes(struct bpf_sampler *self, uint64_t now_ns, bool with_ends);

/* System-wide: is there processor time for reading a process now?  And charges what a reading has
 * used since then. */
bool bpf_may_read(const struct bpf_sampler *self);
void bpf_charge(struct bpf_sampler *self, uint64_t since_cpu_ns);

/* clocks.c */

/* Opens a clock for each thread of the options' process, or for each processor. */
int bpf_start_clocks(struct bpf_sampler *self, pid_t pid, bool is_heir, struct err *err) MUST_CHECK;
/* A family_joiner. */
int bpf_join(struct sampler *sampler, pid_t pid, struct err *err);
/* The kernel closes the clocks of a program that has gained rights: opens new ones. */
void bpf_renew_clocks(struct bpf_sampler *self, pid_t pid);
/* Measures how often threads get a processor; called before and after slow steps at the start. */
void bpf_measure_switches(struct bpf_sampler *self);
/* Gives each processor a clock instead of each thread, once threads switch too often. */
void bpf_judge_clocks(struct bpf_sampler *self);

/* records.c */

/* One record from the ring; for libbpf. */
int bpf_record(void *context, void *data, size_t size);
/* At the end, the samples of threads that are still off the processor. */
void bpf_flush_off_cpu(struct bpf_sampler *self);

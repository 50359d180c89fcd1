/*
 * The sampler "bpf": kernel programs walk the stacks, at each tick of a thread's clock and when a
 * thread leaves the processor.  Nothing of the target is stopped, written or even opened for
 * writing; closing the sampler's descriptors ends it.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/sampling/bpf/clock_room.h"
#include "host/sampling/bpf/thread_walk.h"
#include "host/sampling/family.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_NS   100000000u /* records may arrive faster than they are read */
#define SECOND_NS 1000000000u
#define AWAIT_MS  20u
/* One of limpet's programs, and the function through which the tracepoint calls it; some kernels
 * have more. */
#define OWN_FRAMES 2
/* Why processors have clocks instead of threads. */
#define MANY "threads are too many for a clock each, or descriptors too few (ulimit -n)"
#define OFTEN                                                                                  \
	"threads were scheduled more than 10,000 times in a second, and a clock of their own " \
	"is set anew each time"

static struct bpf_sampler *self_of(struct sampler *sampler)
{
	return (struct bpf_sampler *)sampler;
}

static int bpf_start(struct bpf_sampler *self, enum kernel_file file, const char *program,
		     struct err *err)
{
	int r = kernel_session_start(&self->session, file, program, &self->links[self->link_count],
				     err);

	self->link_count += !r;
	return r;
}

/* False: the programs' own kernel frames cannot be cut off, and the user gets a note. */
static bool find_scheduler(struct bpf_sampler *self)
{
	if (!self->options.off_cpu || !self->options.kernel_frames)
		return false;
	if (scheduler_find(&self->off_cpu_threads.scheduler, "/proc/kallsyms"))
		return true;
	sampler_limit(
		&self->sampler,
		"the kernel hides its addresses (kernel.kptr_restrict, or CAP_SYSLOG is "
		"missing): kernel stacks of waits may begin with frames of the sampling itself");
	return false;
}

static int bpf_load(struct bpf_sampler *self, const struct space *space, struct err *err)
{
	const struct kernel_settings settings = {
		.period_ns = SECOND_NS / self->options.hz,
		.with_kernel_frames = self->options.kernel_frames,
		.own_frames = find_scheduler(self) ? 0 : OWN_FRAMES,
		.with_children = self->options.children,
		.has_fixed_period = event_is_time(self->options.event),
		.is_system_wide = self->options.is_system_wide,
		.own_pid = (uint32_t)getpid(),
	};
	bool has_several = self->options.children || self->options.further_count;
	struct kernel_sizes sizes;
	int r;

	if (space)
		kernel_tables_measure(space, has_several, &sizes);
	else
		kernel_tables_measure_system(&sizes);
	r = kernel_session_init(&self->session, &settings, &sizes, err);
	if (!r)
		r = kernel_session_load(&self->session, KERNEL_SAMPLE, err);
	if (!r && self->options.off_cpu)
		r = kernel_session_load(&self->session, KERNEL_SWITCH, err);
	if (!r && self->options.off_cpu)
		r = kernel_session_load(&self->session, KERNEL_THREADS, err);
	if (!r)
		r = kernel_tables_init(&self->tables, &self->session, err);
	if (r)
		return r;
	self->ring = ring_buffer__new(kernel_session_map(&self->session, "ring"), bpf_record, self,
				      NULL);
	return self->ring ? 0 : err_set(err, -errno, "opening the ring: %s", strerror(errno));
}

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

static int start_clocks(struct bpf_sampler *self, pid_t pid, bool is_heir, struct err *err)
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
		.looks = &self->clock_looks,
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

static int seed_process(struct bpf_sampler *self, struct followed *process, struct err *err)
{
	const struct kernel_question question = { .pid = (uint32_t)process->pid,
						  .is_seed = true,
						  .is_kernel = self->options.kernel_frames };

	if (process->is_unread)
		return 0;
	return thread_walk(&self->session, &self->tables, process->space, &question, err);
}

/* Threads that are already off the processor: their times begin now.  A descendant may end
 * meanwhile. */
static int seed_off_cpu(struct bpf_sampler *self, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->processes.count; i++) {
		struct err ignored = { 0 };
		bool is_root = self->processes.items[i]->pid == self->options.pid;
		int seeded = seed_process(self, self->processes.items[i], is_root ? err : &ignored);

		r = is_root ? seeded : 0;
	}
	kernel_session_unload(&self->session, KERNEL_THREADS);
	return r;
}

static int bpf_join(struct sampler *sampler, pid_t pid, struct err *err)
{
	struct bpf_sampler *self = self_of(sampler);
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
		r = start_clocks(self, pid, /* is_heir */ true, err);
	return r ? r : 1;
}

void bpf_renew_clocks(struct bpf_sampler *self, pid_t pid)
{
	struct err err = { 0 };

	if (!self->options.on_cpu || self->stopped_ns)
		return;
	if (start_clocks(self, pid, /* is_heir */ true, &err) && err.code != -ESRCH)
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

void bpf_judge_clocks(struct bpf_sampler *self)
{
	CLEANUP(free) pid_t *pids = calloc(self->processes.count + 1, sizeof(*pids));
	struct err err = { 0 };

	if (!pids || !may_change_clocks(self) || self->is_switching_often || !self->clocks_count ||
	    self->clocks[0].is_per_processor)
		return;
	for (size_t i = 0; i < self->processes.count; i++)
		pids[i] = self->processes.items[i]->pid;
	if (switch_rate_look(&self->switch_rate, pids, self->processes.count) <= SWITCH_RATE_HIGH)
		return;
	self->is_switching_often = true;
	if (start_clocks(self, self->options.pid, /* is_heir */ false, &err))
		self->is_switching_often = false;
}

static int start_all(struct bpf_sampler *self, struct err *err)
{
	int r = 0;

	if (!self->options
		     .is_system_wide) /* else a new process is unknown until its first sample */
		r = bpf_start(self, KERNEL_SAMPLE, "process_forked", err);
	if (!r)
		r = bpf_start(self, KERNEL_SAMPLE, "process_executed", err);
	if (!r)
		r = bpf_start(self, KERNEL_SAMPLE, "process_ended", err);
	if (!r && self->options.on_cpu)
		r = start_clocks(self, self->options.pid, /* is_heir */ false, err);
	if (!r)
		r = family_join_all(&self->sampler, &self->options, bpf_join, err);
	if (r || !self->options.off_cpu)
		return r;
	r = bpf_start(self, KERNEL_SWITCH, "threads_switched", err);
	if (!r)
		r = bpf_start(self, KERNEL_SWITCH, "thread_woken", err);
	return r ? r : seed_off_cpu(self, err);
}

static int load_and_follow(struct bpf_sampler *self, struct err *err)
{
	struct space *space;
	int r;

	if (self->options.is_system_wide)
		return bpf_load(self, /* space */ NULL, err);
	r = space_open(&space, self->options.pid, err);
	if (r)
		return r;
	java_code_look(&self->first_java, space);
	r = bpf_load(self, space, err);
	if (!r)
		return bpf_follow(self, space, err);
	space_close(space);
	return r;
}

/* Called before and after slow steps. */
static void measure_switches(struct bpf_sampler *self)
{
	if (may_change_clocks(self))
		self->is_switching_often = switch_rate_look(&self->switch_rate, &self->options.pid,
							    1) > SWITCH_RATE_HIGH;
}

static int open_all(struct bpf_sampler *self, struct err *err)
{
	struct clock_room room;
	int r = kernel_session_probe(err);

	if (r)
		return r;
	descriptors_raise_limit();
	clock_room_begin(&room, self->options.pid);
	measure_switches(self);
	r = load_and_follow(self, err);
	clock_room_await(&room);
	measure_switches(self);
	system_begin(self);
	if (!r)
		r = start_all(self, err);
	clock_room_done(&room);
	return r;
}

/* After this nothing is written into the ring: draining is no longer urgent. */
static void bpf_stop(struct sampler *sampler)
{
	struct bpf_sampler *self = self_of(sampler);

	priority_restore(&self->priority);
	while (self->clocks_count)
		thread_clocks_close(&self->clocks[--self->clocks_count]);
	while (self->link_count)
		bpf_link__destroy(self->links[--self->link_count]);
	if (!self->stopped_ns)
		self->stopped_ns = now_ns();
}

static void bpf_close(struct sampler *sampler)
{
	struct bpf_sampler *self = self_of(sampler);

	if (!self)
		return;
	bpf_stop(sampler);
	ring_buffer__free(self->ring);
	kernel_tables_done(&self->tables);
	kernel_session_done(&self->session);
	followed_done(&self->processes);
	off_cpu_threads_done(&self->off_cpu_threads);
	free(self->clocks);
	switch_rate_done(&self->switch_rate);
	interpreter_stacks_done(&self->interpreter_stacks);
	java_code_done(&self->first_java);
	free(self);
}

/* The sampler starts at an ordinary priority with short time slices: a realtime thread that loads
 * programs raised redis's p999 from 3 to 27 ms.  The priority is raised when sampling begins. */
static int bpf_open(struct sampler **ret, const struct sampler_options *options, struct err *err)
{
	struct bpf_sampler *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "sampling by BPF");
	self->sampler.kind = &sampler_bpf;
	self->options = *options;
	self->options.hz = MIN(MAX(options->hz, 1u), 5000u);
	priority_shorten_turns(&self->priority);
	r = open_all(self, err);
	if (r) {
		bpf_close(&self->sampler);
		return err_while(err, "sampling by BPF");
	}
	priority_restore(&self->priority);
	priority_raise(&self->priority);
	*ret = &self->sampler;
	return 0;
}

/* System-wide, new processes wake the poll: they may end in a moment.  However many there are,
 * drain() returns no more often than else. */
static int bpf_consume(struct bpf_sampler *self)
{
	uint64_t begin_ns = now_ns(), passed_ms;
	int r;

	if (!self->options.is_system_wide || self->stopped_ns)
		return ring_buffer__consume(self->ring);
	do {
		passed_ms = (now_ns() - begin_ns) / 1000000u;
		r = ring_buffer__poll(self->ring, (int)(AWAIT_MS - MIN(passed_ms, AWAIT_MS)));
	} while (r >= 0 && passed_ms < AWAIT_MS);
	return r == -EINTR ? 0 : r;
}

static int bpf_drain(struct sampler *sampler, const struct sampler_listener *listener,
		     struct err *err)
{
	struct bpf_sampler *self = self_of(sampler);
	bool has_records;
	int r;

	self->listener = listener;
	if (throttle_adjust(&self->throttle))
		kernel_tables_thin(&self->tables, self->throttle.every);
	self->turn_ends_ns = now_ns() + TURN_NS;
	r = bpf_consume(self);
	has_records = r == -EAGAIN; /* the time slice was over */
	if (self->stopped_ns && !self->is_flushed) {
		self->is_flushed = true;
		bpf_flush_off_cpu(self);
	} else if (!self->stopped_ns) {
		bpf_look_around(self, now_ns(), has_records);
	}
	self->listener = NULL;
	if (r < 0 && !has_records)
		return err_set(err, r, "reading samples: %s", strerror(-r));
	return self->processes.count || has_records || self->options.is_system_wide ? 0 : -ESRCH;
}

static struct sampler_counts bpf_counts(const struct sampler *sampler)
{
	const struct bpf_sampler *self = (const struct bpf_sampler *)sampler;
	struct sampler_counts counts = self->counts;
	struct kernel_counts kernel;
	uint32_t zero = 0;

	if (!bpf_map_lookup_elem(kernel_session_map(&self->session, "counts"), &zero, &kernel))
		counts.lost = kernel.lost + kernel.untracked;
	counts.left_out = self->tables.left_out;
	counts.throttled = self->throttle.most;
	return counts;
}

const struct sampler_kind sampler_bpf = {
	.name = "bpf",
	.summary = "kernel programs walk every stack, without stopping anything",
	.open = bpf_open,
	.drain = bpf_drain,
	.stop = bpf_stop,
	.counts = bpf_counts,
	.close = bpf_close,
};

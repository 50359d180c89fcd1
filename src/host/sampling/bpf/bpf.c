/*
 * The sampler "bpf": kernel programs walk the stacks, at each tick of a thread's clock and when a
 * thread leaves the processor.  Nothing of the target is stopped, written or even opened for
 * writing; closing the sampler's descriptors ends it.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/sampling/bpf/thread_walk.h"
#include "host/unwind/modules.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_NS   100000000u /* records may arrive faster than they are read */
#define SECOND_NS 1000000000u
#define AWAIT_MS  20u
/* One of limpet's programs, and the function through which the tracepoint calls it; some kernels
 * have more. */
#define OWN_FRAMES 2

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
	self->ring = kernel_session_ring(&self->session, bpf_record, self, err);
	return self->ring ? 0 : err->code;
}

/* Threads that are already off the processor: their times begin now.  A descendant may end
 * meanwhile. */
static int seed_off_cpu(struct bpf_sampler *self, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->processes.count; i++) {
		const struct followed *process = self->processes.items[i];
		const struct kernel_question question = {
			.pid = (uint32_t)process->pid,
			.is_seed = true,
			.is_kernel = self->options.kernel_frames,
		};
		bool is_root = process->pid == self->options.pid;
		struct err ignored = { 0 };
		int seeded = 0;

		if (!process->is_unread)
			seeded = thread_walk(&self->session, &self->tables, process->space,
					     &question, is_root ? err : &ignored);
		r = is_root ? seeded : 0;
	}
	kernel_session_unload(&self->session, KERNEL_THREADS);
	return r;
}

static int start_all(struct bpf_sampler *self, struct err *err)
{
	int r = 0;

	/* System-wide, a new process is unknown until its first sample. */
	if (!self->options.is_system_wide)
		r = bpf_start(self, KERNEL_SAMPLE, "process_forked", err);
	if (!r)
		r = bpf_start(self, KERNEL_SAMPLE, "process_executed", err);
	if (!r)
		r = bpf_start(self, KERNEL_SAMPLE, "process_ended", err);
	if (!r && self->options.on_cpu)
		r = bpf_start_clocks(self, self->options.pid, /* is_heir */ false, err);
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
	generated_code_read(&self->first_code, space);
	r = bpf_load(self, space, err);
	if (!r)
		return bpf_follow(self, space, err);
	space_close(space);
	return r;
}

static int open_all(struct bpf_sampler *self, struct err *err)
{
	struct clock_room room;
	int r = kernel_session_probe(err);

	if (r)
		return r;
	descriptors_raise_limit();
	clock_room_begin(&room, self->options.pid);
	bpf_measure_switches(self);
	r = load_and_follow(self, err);
	clock_room_await(&room);
	bpf_measure_switches(self);
	if (self->options.is_system_wide) {
		self->system.begun_ns = now_ns();
		self->tables.ranges_max = SYSTEM_RANGES_MAX;
		self->sampler.is_prompt = true;
		modules_bound(SYSTEM_FILES_MAX, SYSTEM_TABLE_BYTES_MAX, SYSTEM_DESCRIPTORS_MAX);
	}
	if (!r)
		r = start_all(self, err);
	clock_room_done(&room);
	return r;
}

/* After this nothing is written into the ring: draining is no longer urgent. */
static void bpf_stop(struct sampler *sampler)
{
	struct bpf_sampler *self = (struct bpf_sampler *)sampler;

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
	struct bpf_sampler *self = (struct bpf_sampler *)sampler;

	if (!self)
		return;
	bpf_stop(sampler);
	ring_buffer__free(self->ring);
	kernel_tables_done(&self->tables);
	kernel_session_done(&self->session);
	followed_done(&self->processes);
	off_cpu_done(&self->off_cpu_threads.threads);
	free(self->clocks);
	switch_rate_done(&self->switch_rate);
	interpreter_stacks_done(&self->interpreter_stacks);
	generated_code_done(&self->first_code);
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
	struct bpf_sampler *self = (struct bpf_sampler *)sampler;
	uint64_t now;
	bool has_records, is_due;
	int r;

	self->listener = listener;
	if (throttle_adjust(&self->throttle))
		kernel_tables_keep_every(&self->tables, self->throttle.every);
	self->turn_ends_ns = now_ns() + TURN_NS;
	r = bpf_consume(self);
	has_records = r == -EAGAIN; /* the time slice was over */
	if (self->stopped_ns && !self->is_flushed) {
		self->is_flushed = true;
		bpf_flush_off_cpu(self);
	} else if (!self->stopped_ns) {
		now = now_ns();
		/* Pending records may be of processes that have ended. */
		is_due = now >= self->next_check_ns && !has_records;
		bpf_check_processes(self, now, is_due);
		if (is_due) {
			bpf_judge_clocks(self);
			self->next_check_ns = now + BPF_CHECK_NS;
		}
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

/*
 * Handles the records of the kernel programs: samples, and forks, execs and ends of processes.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/clock.h"
#include "host/process/rights/rights.h"

#include <errno.h>
#include <string.h>

static void sample_deliver(const struct sample *sample, void *context)
{
	struct bpf_sampler *self = context;
	struct followed *process = followed_find(&self->processes, (pid_t)sample->pid);

	if (!process && self->options.is_system_wide && self->system.seen >= SYSTEM_SEEN_MAX) {
		self->counts.unlisted++;
		return;
	}
	if (!process)
		process = bpf_process(self, (pid_t)sample->pid, /* parent */ 0);
	if (!process || sample->end >= STACK_ENDS)
		return;
	process->was_seen = true;
	self->counts.samples++;
	self->counts.ends[sample->end]++;
	if (self->listener->sample)
		self->listener->sample(self->listener->context, sample, process->space);
}

void bpf_flush_off_cpu(struct bpf_sampler *self)
{
	off_cpu_threads_flush(&self->off_cpu_threads,
			      kernel_session_map(&self->session, "off_cpu_threads"),
			      self->stopped_ns, sample_deliver, self);
}

static void tell_process(struct bpf_sampler *self, const struct sampled_process *process)
{
	if (self->listener->process)
		self->listener->process(self->listener->context, process);
}

static void on_unknown(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process = bpf_process(self, (pid_t)record->pid, /* parent */ 0);

	if (process)
		bpf_refresh(self, process, /* has_asked */ true);
}

static void on_forked(struct bpf_sampler *self, const struct sample *record)
{
	pid_t parent = (pid_t)record->frames[0];
	struct followed *process = bpf_process(self, (pid_t)record->pid, parent);

	if (!process)
		return;
	process->looked_ns = record->time_ns;
	tell_process(self, &(struct sampled_process){ .pid = process->pid, .parent = parent });
}

static void on_executed(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process = bpf_process(self, (pid_t)record->pid, /* parent */ 0);

	if (!process)
		return;
	followed_forget(process);
	bpf_read_new(self, process);
	if (program_is_privileged(process->pid))
		bpf_renew_clocks(self, process->pid);
	tell_process(self, &(struct sampled_process){ .pid = process->pid });
}

static void on_ended(struct bpf_sampler *self, const struct sample *record)
{
	bpf_forget(self, (pid_t)record->pid);
}

static void on_left(struct bpf_sampler *self, const struct sample *record)
{
	if (off_cpu_threads_begin(&self->off_cpu_threads, record))
		self->failure = -ENOMEM;
}

static void on_came(struct bpf_sampler *self, const struct sample *record)
{
	if (record->user_count >= 2)
		off_cpu_threads_end(&self->off_cpu_threads, record, sample_deliver, self);
}

static void on_interpreted(struct bpf_sampler *self, const struct sample *record)
{
	if (interpreter_stacks_hold(&self->interpreter_stacks, record))
		self->failure = -ENOMEM;
}

static void on_sample(struct bpf_sampler *self, const struct sample *record)
{
	self->throttle.taken++;
	sample_deliver(record, self);
}

/* Retries later for a process that may not be read now. */
static void put_off(struct bpf_sampler *self, struct followed *process)
{
	process->is_muted = true;
	process->looked_ns = now_ns();
	followed_back_off(process);
	kernel_tables_mute(&self->tables, process->pid);
	sampler_limit(&self->sampler,
		      "processes came or changed faster than a tenth of a CPU can read what "
		      "they have mapped: stacks of some have one frame only");
}

/* Processes appear as fast as ticks, and choose their own mappings: all reading together has a
 * limited share of a processor.  An earlier process with this number is gone, or runs another
 * program now. */
static void on_appeared(struct bpf_sampler *self, const struct sample *record)
{
	struct kernel_appearance appearance;
	char name[sizeof(appearance.name) + 1] = "";
	uint64_t since = thread_cpu_ns();
	bool may_read = bpf_may_read(self), has_moved;
	struct followed *process;

	if (record->user_count < sizeof(appearance) / sizeof(*record->frames))
		return;
	memcpy(&appearance, record->frames + record->kernel_count, sizeof(appearance));
	memcpy(name, appearance.name, sizeof(appearance.name));
	if (self->system.seen >= SYSTEM_SEEN_MAX) {
		kernel_tables_mute(&self->tables, (pid_t)record->pid);
		return;
	}
	self->system.seen++;
	if (followed_find(&self->processes, (pid_t)record->pid))
		bpf_forget(self, (pid_t)record->pid);
	process = bpf_process(self, (pid_t)record->pid, (pid_t)appearance.parent);
	if (!process)
		return;
	process->program_stack = appearance.start_stack;
	process->space->ranges_max = SYSTEM_RANGES_MAX;
	if (may_read)
		bpf_read_new(self, process);
	else
		put_off(self, process);
	has_moved = process->space->start_stack &&
		    process->space->start_stack != appearance.start_stack;
	tell_process(self, &(struct sampled_process){ .pid = process->pid,
						      .parent = (pid_t)appearance.parent,
						      .name = name,
						      .is_unread = !may_read || has_moved });
	bpf_charge(self, since);
}

static void (*const handlers[])(struct bpf_sampler *self, const struct sample *record) = {
	[SAMPLE_RUNNING] = on_sample,          [KERNEL_EVENT_UNKNOWN] = on_unknown,
	[KERNEL_EVENT_FORKED] = on_forked,     [KERNEL_EVENT_EXECUTED] = on_executed,
	[KERNEL_EVENT_ENDED] = on_ended,       [KERNEL_EVENT_LEFT] = on_left,
	[KERNEL_EVENT_CAME] = on_came,         [KERNEL_EVENT_INTERPRETED] = on_interpreted,
	[KERNEL_EVENT_APPEARED] = on_appeared,
};

/* For walks that the kernel program could not do.  If it met unknown code, the space has been read
 * again by now: that request came first.  Code that a Java compiled may be newer still. */
static const struct sample *walk_here(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process = followed_find(&self->processes, (pid_t)record->pid);
	const struct space *space = process ? process->space : NULL;
	struct sample *ret = &self->walked.sample;

	if (record->flags & KERNEL_REST) {
		stack_rest_walk(record, space, ret);
		return ret;
	}
	raw_stack_walk(record, space, ret);
	if (process && ret->end == STACK_NO_TABLE && bpf_refresh_java(self, process))
		raw_stack_walk(record, space, ret);
	return ret;
}

/* System-wide: frames of an unknown process cannot be walked: that is the reason, whatever the walk
 * reported. */
static const struct sample *mark_unread(struct bpf_sampler *self, const struct sample *record)
{
	const struct followed *process;
	size_t frames = (size_t)record->kernel_count + record->user_count;

	if (!self->options.is_system_wide || !record->user_count || record->end == STACK_COMPLETE ||
	    frames > SAMPLE_FRAMES_MAX + KERNEL_FRAMES_MAX)
		return record;
	process = followed_find(&self->processes, (pid_t)record->pid);
	if (process && process->space->count)
		return record;
	if (record != &self->walked.sample)
		memcpy(&self->walked, record, sizeof(*record) + frames * sizeof(*record->frames));
	self->walked.sample.end = STACK_UNREAD;
	return &self->walked.sample;
}

/* A child inherits its parent's interpreter in the kernel, and it is found here with its first
 * frames. */
static const struct sample *merge_interpreted(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process;

	if (!interpreter_stacks_held(&self->interpreter_stacks, record))
		return record;
	process = followed_find(&self->processes, (pid_t)record->pid);
	if (!process)
		return record;
	bpf_find_interpreter(self, process);
	return interpreter_stacks_merge(&self->interpreter_stacks, process->interpreter, record);
}

int bpf_record(void *context, void *data, size_t size)
{
	struct bpf_sampler *self = context;
	const struct sample *record = data;

	if (size < sizeof(*record) ||
	    (size - sizeof(*record)) / 8 < (size_t)record->kernel_count + record->user_count)
		return 0;
	if (record->flags & (KERNEL_RAW | KERNEL_REST))
		record = walk_here(self, record);
	if (record->kind == SAMPLE_RUNNING || record->kind == KERNEL_EVENT_LEFT)
		record = merge_interpreted(self, mark_unread(self, record));
	if (record->kind < ARRAY_SIZE(handlers) && handlers[record->kind])
		handlers[record->kind](self, record);
	if (!self->failure && !self->stopped_ns && now_ns() > self->turn_ends_ns)
		return -EAGAIN;
	return self->failure;
}

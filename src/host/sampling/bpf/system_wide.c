/*
 * Follows processes from their first sample on.  They may arrive as fast as ticks, and choose their
 * own mappings: all reading together has a limited share of a processor.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/clock.h"
#include "host/unwind/modules.h"

#include <errno.h>
#include <string.h>

#define UNSEEN_NS 1000000000ull

void system_begin(struct bpf_sampler *self)
{
	if (!self->options.is_system_wide)
		return;
	self->system.begun_ns = now_ns();
	self->tables.ranges_max = SYSTEM_RANGES_MAX;
	self->sampler.is_prompt = true;
	modules_bound(SYSTEM_FILES_MAX, SYSTEM_TABLE_BYTES_MAX, SYSTEM_DESCRIPTORS_MAX);
}

bool system_may_read(const struct bpf_sampler *self)
{
	uint64_t allowed =
		SYSTEM_READING_NS + (now_ns() - self->system.begun_ns) / SYSTEM_READING_SHARE;

	return !self->options.is_system_wide || self->system.read_ns < allowed;
}

/* Not counted for the throttle: fewer samples would not make it less. */
void system_charge(struct bpf_sampler *self, uint64_t since_cpu_ns)
{
	uint64_t spent = thread_cpu_ns() - since_cpu_ns;

	if (!self->options.is_system_wide)
		return;
	self->system.read_ns += spent;
	self->throttle.used_ns += spent;
}

bool system_is_full(const struct bpf_sampler *self)
{
	return self->options.is_system_wide && self->system.seen >= SYSTEM_SEEN_MAX;
}

bool system_make_room(struct bpf_sampler *self)
{
	size_t before = self->tables.part_count;
	uint64_t now = now_ns();

	for (size_t i = 0; i < self->processes.count; i++) {
		const struct followed *process = self->processes.items[i];

		if (!process->was_seen && now - MIN(now, process->looked_ns) >= UNSEEN_NS)
			kernel_tables_forget(&self->tables, process->pid);
	}
	return self->tables.part_count < before;
}

/* Retries later for a process that may not be read now. */
static void put_off(struct bpf_sampler *self, struct followed *process)
{
	process->is_muted = true;
	process->looked_ns = now_ns();
	followed_lose_patience(process);
	kernel_tables_mute(&self->tables, process->pid);
	sampler_limit(&self->sampler,
		      "processes came or changed faster than a tenth of a CPU can read what "
		      "they have mapped: stacks of some have one frame only");
}

/* An earlier process with this number is gone, or runs another program now. */
static struct followed *follow_appeared(struct bpf_sampler *self, pid_t pid,
					const struct kernel_appearance *appearance)
{
	struct followed *process;

	if (followed_find(&self->processes, pid))
		bpf_forget(self, pid);
	if (followed_add_child(&self->processes, pid, (pid_t)appearance->parent, &process)) {
		self->failure = -ENOMEM;
		return NULL;
	}
	process->program_stack = appearance->start_stack;
	process->space->ranges_max = SYSTEM_RANGES_MAX;
	return process;
}

void system_appeared(struct bpf_sampler *self, const struct sample *record)
{
	struct kernel_appearance appearance;
	char name[sizeof(appearance.name) + 1] = "";
	uint64_t since = thread_cpu_ns();
	bool may_read = system_may_read(self), has_moved;
	struct followed *process;

	if (record->user_count < sizeof(appearance) / sizeof(*record->frames))
		return;
	memcpy(&appearance, record->frames + record->kernel_count, sizeof(appearance));
	memcpy(name, appearance.name, sizeof(appearance.name));
	if (system_is_full(self)) {
		kernel_tables_mute(&self->tables, (pid_t)record->pid);
		return;
	}
	self->system.seen++;
	process = follow_appeared(self, (pid_t)record->pid, &appearance);
	if (!process)
		return;
	if (may_read)
		bpf_read_anew(self, process);
	else
		put_off(self, process);
	has_moved = process->space->start_stack &&
		    process->space->start_stack != appearance.start_stack;
	bpf_tell(self, &(struct sampled_process){ .pid = process->pid,
						  .parent = (pid_t)appearance.parent,
						  .name = name,
						  .is_unread = !may_read || has_moved });
	system_charge(self, since);
}

/* Frames of an unknown process cannot be walked: that is the reason, whatever the walk reported. */
const struct sample *system_mark(struct bpf_sampler *self, const struct sample *record)
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

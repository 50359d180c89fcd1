/*
 * The processes of the sampler "bpf": reads their mappings, the rules of their code and their
 * interpreters, and writes them into the maps of the kernel programs.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/clock.h"

#include <errno.h>

#define UNSEEN_NS 1000000000ull

struct followed *bpf_process(struct bpf_sampler *self, pid_t pid, pid_t parent)
{
	struct followed *process = NULL;

	if (followed_add_child(&self->processes, pid, parent, &process))
		self->failure = -ENOMEM;
	return process;
}

void bpf_forget(struct bpf_sampler *self, pid_t pid)
{
	kernel_tables_forget(&self->tables, pid);
	followed_remove(&self->processes, pid);
}

bool bpf_may_read(const struct bpf_sampler *self)
{
	uint64_t allowed =
		SYSTEM_READING_NS + (now_ns() - self->system.begun_ns) / SYSTEM_READING_SHARE;

	return !self->options.is_system_wide || self->system.read_ns < allowed;
}

/* Not counted for the throttle: fewer samples would not make it less. */
void bpf_charge(struct bpf_sampler *self, uint64_t since_cpu_ns)
{
	uint64_t spent = thread_cpu_ns() - since_cpu_ns;

	if (!self->options.is_system_wide)
		return;
	self->system.read_ns += spent;
	self->throttle.used_ns += spent;
}

/* Frees ranges: the kernel programs forget processes without recent samples, and send them anew
 * with their next sample.  The list of processes stays.  False: there was none to forget. */
static bool make_range_room(struct bpf_sampler *self)
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

/* The kernel programs use its present mappings and rules from now on.  An unknown address may stay
 * unknown: requests for new mappings become rarer while they bring nothing. */
static void bpf_publish(struct bpf_sampler *self, struct followed *process, bool is_muted)
{
	enum kernel_asking asking = is_muted ? ASKED_IN_VAIN : ASKING;
	struct err err = { 0 };

	process->is_muted = is_muted;
	if (!kernel_tables_publish(&self->tables, process->space, asking, &err))
		return;
	if (self->options.is_system_wide && make_range_room(self) &&
	    !kernel_tables_publish(&self->tables, process->space, asking, &err))
		return;
	self->tables.left_out++;
	if (!self->options.is_system_wide)
		return;
	process->is_muted = true; /* and retried later */
	followed_back_off(process);
	kernel_tables_mute(&self->tables, process->pid);
}

/* The kernel programs send the frames of its interpreter from now on; else a limit has the reason,
 * but system-wide not that a process was just ending. */
void bpf_find_interpreter(struct bpf_sampler *self, struct followed *process)
{
	struct err err = { 0 };
	int r;

	if (process->interpreter || process->was_interpreter_sought)
		return;
	r = followed_find_interpreter(process, READER_KERNEL, &err);
	if (!r && process->interpreter)
		r = kernel_tables_interpreter(&self->tables, process->pid, process->interpreter,
					      &err);
	if (r && (!self->options.is_system_wide ||
		  (err.code != -ESRCH && err.code != -EFAULT && err.code != -EIO)))
		sampler_limit(&self->sampler, "%s", err.what);
}

/* Makes rules for code that it has generated; else a limit has the reason. */
static void read_generated(struct bpf_sampler *self, struct followed *process)
{
	followed_read_generated(process);
	if (process->generated.why[0])
		sampler_limit(&self->sampler, "%s", process->generated.why);
}

/* It has executed another program since its first sample: that one gets a first sample, too. */
static bool has_moved_on(struct followed *process)
{
	uint64_t told = process->program_stack, found = process->space->start_stack;

	if (!told || !found || told == found)
		return false;
	space_forget(process->space);
	return true;
}

/* If the process cannot be read it has ended: its samples are kept, with the names known so far.
 * System-wide some may not be read: the programs do not send their stacks then. */
void bpf_read_new(struct bpf_sampler *self, struct followed *process)
{
	struct err err = { 0 };

	process->looked_ns = now_ns();
	process->retry_pause_ns = 0;
	process->was_seen = false;
	process->is_unread = space_refresh(process->space, &err) < 0 || has_moved_on(process);
	followed_forget_interpreter(process);
	generated_code_done(&process->generated);
	if (!process->is_unread) {
		read_generated(self, process);
		bpf_publish(self, process, false);
		bpf_find_interpreter(self, process);
		return;
	}
	if (!self->options.is_system_wide)
		return;
	if (err.code == -EACCES || err.code == -EPERM)
		sampler_limit(&self->sampler,
			      "mappings of some processes may not be read (CAP_SYS_PTRACE is "
			      "missing): their stacks have one frame only");
	followed_back_off(process);
	bpf_publish(self, process, true);
}

int bpf_follow(struct bpf_sampler *self, struct space *space, struct err *err)
{
	struct followed *process;
	pid_t pid = space->pid;
	int r = followed_add(&self->processes, space, &process);

	if (r)
		return err_set(err, r, "following process %d", pid);
	process->looked_ns = now_ns();
	process->generated = self->first_code;
	self->first_code = (struct generated_code){ 0 };
	read_generated(self, process);
	r = kernel_tables_publish(&self->tables, space, ASKING, err);
	if (r) /* else the process would count as sampled */
		followed_remove(&self->processes, pid);
	else
		bpf_find_interpreter(self, process);
	return r;
}

/* A child with its parent's mappings still has its code, too. */
bool bpf_refresh_java(struct bpf_sampler *self, struct followed *process)
{
	unsigned generation = process->space->generation;

	if (!process->generated.java || process->is_unread)
		return false;
	read_generated(self, process);
	if (process->space->generation == generation)
		return false;
	bpf_publish(self, process, false);
	return true;
}

static void refresh_now(struct bpf_sampler *self, struct followed *process, bool has_asked)
{
	unsigned generation = process->space->generation;
	struct err err = { 0 };

	if (process->is_unread) {
		bpf_read_new(self, process);
		return;
	}
	process->looked_ns = now_ns();
	process->was_seen = false;
	if (!space_refresh(process->space, &err) && process->space->generation != generation)
		generated_code_seek_again(&process->generated);
	read_generated(self, process);
	if (process->space->generation != generation) {
		process->retry_pause_ns = 0;
		bpf_publish(self, process, false);
		process->was_interpreter_sought = false;
	} else if (has_asked && !process->is_owed_rules) {
		followed_back_off(process);
		bpf_publish(self, process, true);
	}
	bpf_find_interpreter(self, process);
}

/* If there is time left for it; else later. */
void bpf_refresh(struct bpf_sampler *self, struct followed *process, bool has_asked)
{
	uint64_t since = thread_cpu_ns();

	if (bpf_may_read(self)) {
		refresh_now(self, process, has_asked);
		bpf_charge(self, since);
		return;
	}
	process->looked_ns = now_ns();
	process->was_seen = false;
	if (has_asked) {
		followed_back_off(process);
		bpf_publish(self, process, true);
	}
}

void bpf_check_processes(struct bpf_sampler *self, uint64_t now, bool with_ends)
{
	for (size_t i = self->processes.count; i-- > 0;) {
		struct followed *process = self->processes.items[i];
		uint64_t since_ns = now - MIN(now, process->looked_ns);
		bool was_owed = process->is_owed_rules;

		if (process->was_seen && since_ns >= BPF_CHECK_NS)
			bpf_refresh(self, process, /* has_asked */ false);
		else if ((was_owed || (process->was_seen && now - MIN(now, process->generated_ns) >=
								    FOLLOWED_JAVA_NS)) &&
			 !bpf_refresh_java(self, process) && was_owed && !process->is_owed_rules)
			bpf_publish(self, process, false); /* answers those that asked too early */
		if (process->is_muted && since_ns >= process->retry_pause_ns)
			bpf_publish(self, process, false);
		if (with_ends && followed_has_ended(process))
			bpf_forget(self, process->pid);
	}
}

/*
 * Handles the records of the kernel programs: samples, and forks, execs and ends of processes.
 */
#include "host/sampling/bpf/bpf.h"

#include "host/core/clock.h"
#include "host/process/rights/rights.h"
#include "host/sampling/bpf/raw_stack.h"

#include <errno.h>
#include <stdio.h>

#define LOOK_NS 1000000000ull /* between readings of mappings of running processes */

static struct followed *follow_child(struct bpf_sampler *self, pid_t pid, pid_t parent)
{
	struct followed *process = NULL;

	if (followed_add_child(&self->processes, pid, parent, &process))
		self->failure = -ENOMEM;
	return process;
}

static struct followed *follow_unknown(struct bpf_sampler *self, pid_t pid)
{
	return follow_child(self, pid, /* parent */ 0);
}

/* An unknown address may stay unknown: requests for new mappings become rarer while they bring
 * nothing. */
static void bpf_records_publish(struct bpf_sampler *self, struct followed *process, bool is_muted)
{
	enum kernel_asking asking = is_muted ? ASKED_IN_VAIN : ASKING;
	struct err err = { 0 };

	process->is_muted = is_muted;
	if (!kernel_tables_publish(&self->tables, process->space, asking, &err))
		return;
	if (self->options.is_system_wide && system_make_room(self) &&
	    !kernel_tables_publish(&self->tables, process->space, asking, &err))
		return;
	self->tables.left_out++;
	if (!self->options.is_system_wide)
		return;
	process->is_muted = true; /* and retried later */
	followed_lose_patience(process);
	kernel_tables_mute(&self->tables, process->pid);
}

/* Adds a limit for the user; system-wide, not that a process was just ending. */
static void tell_trouble(struct bpf_sampler *self, const struct err *err)
{
	if (!self->options.is_system_wide ||
	    (err->code != -ESRCH && err->code != -EFAULT && err->code != -EIO))
		sampler_limit(&self->sampler, "%s", err->what);
}

/* The kernel programs send the frames of its interpreter from now on; else the user gets the
 * reason. */
static void find_interpreter(struct bpf_sampler *self, struct followed *process)
{
	struct err err = { 0 };
	int r;

	if (process->interpreter || process->was_interpreter_sought)
		return;
	r = followed_find_interpreter(process, READER_KERNEL, &err);
	if (!r && process->interpreter)
		r = kernel_tables_interpreter(&self->tables, process->pid, process->interpreter,
					      &err);
	if (r)
		tell_trouble(self, &err);
}

/* Makes rules for code that its Java compiled; else the user gets the reason. */
static void look_for_java(struct bpf_sampler *self, struct followed *process)
{
	followed_look_for_java(process);
	if (process->java.why[0])
		sampler_limit(&self->sampler, "%s", process->java.why);
}

/* System-wide some processes may not be read: stops the programs from sending their stacks. */
static void lack_process(struct bpf_sampler *self, struct followed *process, const struct err *err)
{
	if (!self->options.is_system_wide)
		return;
	if (err->code == -EACCES || err->code == -EPERM)
		sampler_limit(&self->sampler,
			      "mappings of some processes may not be read (CAP_SYS_PTRACE is "
			      "missing): their stacks have one frame only");
	followed_lose_patience(process);
	bpf_records_publish(self, process, true);
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

/* If the process cannot be read it has ended: its samples are kept, with the names known so far. */
void bpf_read_anew(struct bpf_sampler *self, struct followed *process)
{
	struct err err = { 0 };

	process->looked_ns = now_ns();
	process->patience_ns = 0;
	process->was_seen = false;
	process->is_unread = space_refresh(process->space, &err) < 0 || has_moved_on(process);
	followed_forget_interpreter(process);
	java_code_done(&process->java);
	if (process->is_unread) {
		lack_process(self, process, &err);
		return;
	}
	look_for_java(self, process);
	bpf_records_publish(self, process, false);
	find_interpreter(self, process);
}

int bpf_follow(struct bpf_sampler *self, struct space *space, struct err *err)
{
	struct followed *process;
	pid_t pid = space->pid;
	int r = followed_add(&self->processes, space, &process);

	if (r)
		return err_set(err, r, "following process %d", pid);
	process->looked_ns = now_ns();
	process->java = self->first_java;
	self->first_java = (struct java_code){ 0 };
	look_for_java(self, process);
	r = kernel_tables_publish(&self->tables, space, ASKING, err);
	if (r) /* else the process would count as sampled */
		followed_remove(&self->processes, pid);
	else
		find_interpreter(self, process);
	return r;
}

/* False: nothing is new.  A child with its parent's mappings still has its code, too. */
static bool refresh_java(struct bpf_sampler *self, struct followed *process)
{
	unsigned generation = process->space->generation;

	if (!process->java.java || process->is_unread)
		return false;
	look_for_java(self, process);
	if (process->space->generation == generation)
		return false;
	bpf_records_publish(self, process, false);
	return true;
}

/* Reads the mappings again. */
static void refresh_now(struct bpf_sampler *self, struct followed *process, bool has_asked)
{
	unsigned generation = process->space->generation;
	struct err err = { 0 };

	if (process->is_unread) {
		bpf_read_anew(self, process);
		return;
	}
	process->looked_ns = now_ns();
	process->was_seen = false;
	if (!space_refresh(process->space, &err) && process->space->generation != generation)
		java_code_seek_again(&process->java);
	look_for_java(self, process);
	if (process->space->generation != generation) {
		process->patience_ns = 0;
		bpf_records_publish(self, process, false);
		process->was_interpreter_sought = false;
	} else if (has_asked && !process->is_owed_java) {
		followed_lose_patience(process);
		bpf_records_publish(self, process, true);
	}
	find_interpreter(self, process);
}

/* The same if there is time left for it; else later. */
static void bpf_records_refresh(struct bpf_sampler *self, struct followed *process, bool has_asked)
{
	uint64_t since = thread_cpu_ns();

	if (system_may_read(self)) {
		refresh_now(self, process, has_asked);
		system_charge(self, since);
		return;
	}
	process->looked_ns = now_ns();
	process->was_seen = false;
	if (has_asked) {
		followed_lose_patience(process);
		bpf_records_publish(self, process, true);
	}
}

/* Answers programs that asked too early, whether something is new or not. */
static void limit_java_cost(struct bpf_sampler *self, struct followed *process)
{
	bool was_owed = process->is_owed_java;

	if (!refresh_java(self, process) && was_owed && !process->is_owed_java)
		bpf_records_publish(self, process, false);
}

/* Reads again what may have changed without a record; lets programs ask again that asked in
 * vain. */
static void look_at(struct bpf_sampler *self, struct followed *process, uint64_t now)
{
	uint64_t since_ns = now - MIN(now, process->looked_ns);

	if (process->was_seen && since_ns >= LOOK_NS)
		bpf_records_refresh(self, process, false);
	else if (process->is_owed_java ||
		 (process->was_seen && now - MIN(now, process->java_looked_ns) >= FOLLOWED_JAVA_NS))
		limit_java_cost(self, process);
	if (process->is_muted && since_ns >= process->patience_ns)
		bpf_records_publish(self, process, false);
}

void bpf_look_around(struct bpf_sampler *self, uint64_t now, bool has_records)
{
	bool is_due = now >= self->next_look_ns && !has_records;

	for (size_t i = self->processes.count; i-- > 0;) {
		struct followed *process = self->processes.items[i];

		look_at(self, process, now);
		if (is_due && followed_has_ended(process))
			bpf_forget(self, process->pid);
	}
	if (!is_due)
		return;
	bpf_judge_clocks(self);
	self->next_look_ns = now + LOOK_NS;
}

static void bpf_records_deliver(const struct sample *sample, void *context)
{
	struct bpf_sampler *self = context;
	struct followed *process;

	if (system_is_full(self) && !followed_find(&self->processes, (pid_t)sample->pid)) {
		self->counts.unlisted++;
		return;
	}
	process = follow_unknown(self, (pid_t)sample->pid);
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
			      self->stopped_ns, bpf_records_deliver, self);
}

static void on_unknown(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process = follow_unknown(self, (pid_t)record->pid);

	if (process)
		bpf_records_refresh(self, process, true);
}

void bpf_tell(struct bpf_sampler *self, const struct sampled_process *process)
{
	if (self->listener->process)
		self->listener->process(self->listener->context, process);
}

static void on_forked(struct bpf_sampler *self, const struct sample *record)
{
	pid_t parent = (pid_t)record->frames[0];
	struct followed *process = follow_child(self, (pid_t)record->pid, parent);

	if (!process)
		return;
	process->looked_ns = record->time_ns;
	bpf_tell(self, &(struct sampled_process){ .pid = process->pid, .parent = parent });
}

static void on_executed(struct bpf_sampler *self, const struct sample *record)
{
	struct followed *process = follow_unknown(self, (pid_t)record->pid);

	if (!process)
		return;
	followed_forget(process);
	bpf_read_anew(self, process);
	if (program_is_privileged(process->pid))
		bpf_renew_clocks(self, process->pid);
	bpf_tell(self, &(struct sampled_process){ .pid = process->pid });
}

void bpf_forget(struct bpf_sampler *self, pid_t pid)
{
	kernel_tables_forget(&self->tables, pid);
	followed_remove(&self->processes, pid);
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
		off_cpu_threads_end(&self->off_cpu_threads, record, bpf_records_deliver, self);
}

static void on_interpreted(struct bpf_sampler *self, const struct sample *record)
{
	if (interpreter_stacks_hold(&self->interpreter_stacks, record))
		self->failure = -ENOMEM;
}

static void on_sample(struct bpf_sampler *self, const struct sample *record)
{
	self->throttle.taken++;
	bpf_records_deliver(record, self);
}

static void (*const handlers[])(struct bpf_sampler *self, const struct sample *record) = {
	[SAMPLE_RUNNING] = on_sample,
	[KERNEL_EVENT_UNKNOWN] = on_unknown,
	[KERNEL_EVENT_FORKED] = on_forked,
	[KERNEL_EVENT_EXECUTED] = on_executed,
	[KERNEL_EVENT_ENDED] = on_ended,
	[KERNEL_EVENT_LEFT] = on_left,
	[KERNEL_EVENT_CAME] = on_came,
	[KERNEL_EVENT_INTERPRETED] = on_interpreted,
	[KERNEL_EVENT_APPEARED] = system_appeared,
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
	if (process && ret->end == STACK_NO_TABLE && refresh_java(self, process))
		raw_stack_walk(record, space, ret);
	return ret;
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
	find_interpreter(self, process);
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
		record = merge_interpreted(self, system_mark(self, record));
	if (record->kind < ARRAY_SIZE(handlers) && handlers[record->kind])
		handlers[record->kind](self, record);
	if (!self->failure && !self->stopped_ns && now_ns() > self->turn_ends_ns)
		return -EAGAIN;
	return self->failure;
}

/*
 * Drives the tracing of one process: the collector runs from before the first hook is installed
 * until after the last is removed.
 */
#include "host/recorder/tracing_private.h"
#include "host/recorder/windows/device_windows.h"

#include "host/core/notes.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int begin_stacks(struct tracing *self, struct collect_source *source, struct err *err)
{
	if (!trace_reads_python(&self->given))
		return 0;
	call_stacks_free(self->stacks);
	self->stacks = call_stacks_new(self->pid,
				       trace_reads_launches(&self->given) ? "launches" : "calls");
	if (!self->stacks)
		return err_set(err, -ENOMEM, "no memory for stacks");
	source->stacks = call_stacks_source(self->stacks);
	return 0;
}

/* Before the collector runs: unwind tables of large libraries take a while. */
static int begin_callers(struct tracing *self, struct collect_source *source, struct err *err)
{
	const struct trace_options *given = &self->given;
	uint32_t with_callers = DOMAIN_BIT(ALLOC) | DOMAIN_BIT(IO) | DOMAIN_BIT(LOCK);
	int r;

	if (!(trace_domains(given) & with_callers) && !trace_reads_launches(given))
		return 0;
	callers_free(self->callers);
	self->callers = NULL;
	r = callers_new(&self->callers, self->programs, self->pid, self->process, err);
	if (r == -EACCES || r == -EPERM)
		return 0; /* the attach, which is next, is refused with the same reason */
	if (r)
		return r;
	self->has_python = callers_have_python(self->callers);
	if (given->alloc_stacks && !given->alloc_sample && self->has_python)
		note_add(
			"stacks of allocations of %d have no lines of Python: --alloc-sample has them",
			(int)self->pid);
	callers_use_python(self->callers, self->stacks);
	source->callers = callers_source(self->callers);
	__atomic_store_n(&self->trace.rings->stack_end, callers_stack_end(self->callers),
			 __ATOMIC_RELAXED);
	return 0;
}

int tracing_begin_program(struct tracing *self, struct err *err)
{
	struct collect_source source = {
		.rings = self->trace.rings,
		.size = self->trace.layout.size,
		.is_alive = target_thread_is_alive,
		.thread_name = target_thread_name,
		.context = &self->threads,
		.take_reading = self->windows ? device_windows_take : NULL,
		.reading_context = self->windows,
	};
	int r = programs_number(self->programs, self->pid, &self->process, err);

	if (r)
		return r;
	r = begin_stacks(self, &source, err);
	if (!r)
		r = begin_callers(self, &source, err);
	if (r)
		return r;
	source.process = self->process;
	if (self->given.counter_fact_count)
		r = recording_list(
			self->programs->recording, CHUNK_COUNTERS,
			&(struct list_head){ self->process, 0, self->given.counter_fact_count },
			self->given.counter_facts, err);
	if (r)
		return r;
	r = collector_new(self->programs->recording, &source, &self->collector, err);
	return r ? r : collector_start(self->collector, err);
}

void tracing_free(struct tracing *self)
{
	if (!self)
		return;
	collector_free(self->collector);
	call_stacks_free(self->stacks);
	callers_free(self->callers);
	if (self->pidfd >= 0)
		close(self->pidfd);
	trace_close(&self->trace);
	target_threads_done(&self->threads);
	free(self);
}

int tracing_new(struct tracing **ret, struct programs *programs, pid_t pid,
		const struct tracing_options *options, struct err *err)
{
	struct tracing *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory for the recording");
	self->pid = self->threads.pid = pid;
	self->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	self->trace.fd = -1;
	self->programs = programs;
	self->given = options->trace;
	self->windows = options->windows;
	self->options = options->session;
	self->options.trace = &self->trace;
	r = trace_open(&self->trace, &options->trace, err);
	if (!r)
		r = tracing_begin_program(self, err);
	if (r)
		tracing_free(self);
	else
		*ret = self;
	return r;
}

/* States given before were allowed by the filters of that time. */
static void forbid_stacks(struct tracing *self)
{
	if (!self->stacks)
		return;
	call_stacks_set_allowed(self->stacks, false);
	for (uint32_t i = 0; i < self->trace.layout.slot_count; i++)
		ring_set_python(rings_slot(self->trace.rings, i), 0, 0);
}

static void tell_of_texts(const struct tracing *self)
{
	uint32_t domains = trace_domains(&self->given);

	if (!self->session.attachment.report.denies_probes)
		return;
	if (domains & DOMAIN_BIT(MARKER))
		note_add(
			"ranges and marks of %d have no names: a seccomp filter of one thread may kill a thread that reads them",
			(int)self->pid);
	if (domains & DOMAIN_BIT(IO))
		note_add(
			"connections that %d accepted may lack the address: a seccomp filter of one thread may kill a thread that reads it",
			(int)self->pid);
}

void tracing_heed_filters(struct tracing *self)
{
	tell_of_texts(self);
	if (!self->stacks)
		return;
	if (!self->session.attachment.report.denies_stacks)
		call_stacks_set_allowed(self->stacks, true);
	else if (trace_reads_launches(&self->given) || self->has_python)
		note_add(
			"%s of %d have no stacks of Python: a seccomp filter may kill a thread that reads them",
			trace_reads_launches(&self->given) ? "launches" : "calls", (int)self->pid);
}

int tracing_attach(struct tracing *self, const struct session_options *options, struct err *err)
{
	int r;

	forbid_stacks(self);
	r = session_open(&self->session, self->pid, options, err);
	if (!r)
		tracing_heed_filters(self);
	return r;
}

int tracing_start(struct tracing *self, struct err *err)
{
	int r = tracing_attach(self, &self->options, err);

	self->watch = (struct registers_watch){ 0 };
	if (r)
		return r;
	self->is_attached = true;
	self->is_cut_off = false;
	tracing_keep_name(self);
	return 0;
}

const struct trace *tracing_lend(struct tracing *self)
{
	return &self->trace;
}

/* True when the process has ended, or executed another program, before the detach: that is an end
 * too. */
static bool has_gone(struct tracing *self)
{
	if (!target_lives(&self->session.attachment.target))
		return true;
	if (!tracing_note_cut(self))
		return false;
	if (self->is_following && !self->unfollowed.code)
		err_set(&self->unfollowed, -ECANCELED, "the recording ended at that moment");
	return true;
}

int tracing_pause(struct tracing *self, bool unload, struct session_left *ret_left, struct err *err)
{
	int r = 0;

	ret_left->count = 0;
	if (!self->is_attached)
		return 0;
	if (!tracing_note_farewell(self) && target_lives(&self->session.attachment.target))
		r = session_leave(&self->session, unload, ret_left, err);
	if (r && has_gone(self)) {
		memset(err, 0, sizeof(*err));
		r = 0;
	}
	session_close(&self->session);
	self->is_attached = false;
	return r;
}

/* Searches for runtimes that limpet's register libraries do not know. */
int tracing_check(struct tracing *self, struct err *err)
{
	int r = tracing_follow(self, err);

	if (r)
		return r;
	if (self->is_attached && trace_absent(&self->trace) & DOMAINS_TABLES)
		registers_query_again(&self->session.attachment, &self->options, &self->watch);
	return self->collector ? collector_check(self->collector, err) : 0;
}

/* Modules may have been loaded since the last list; after its end the first list must do: the
 * number may have been reused. */
static void write_modules(const struct tracing *self)
{
	struct err ignored = { 0 };

	if (!tracing_has_ended(self))
		(void)!facts_modules(self->programs->recording, self->pid, self->process, &ignored);
}

int tracing_finish(struct tracing *self, bool gives_up, struct err *err)
{
	int r;

	if (self->is_finished || !self->collector)
		return 0;
	self->is_finished = true;
	collector_stop(self->collector);
	r = gives_up ? 0 : collector_finish(self->collector, err);
	if (!r && self->callers)
		r = callers_finish(self->callers, err);
	if (!r)
		write_modules(self);
	return r;
}

pid_t tracing_pid(const struct tracing *self)
{
	return self->pid;
}

int tracing_pidfd(const struct tracing *self)
{
	return self->pidfd;
}

bool tracing_has_ended(const struct tracing *self)
{
	return !pidfd_lives(self->pidfd);
}

int tracing_socket(const struct tracing *self)
{
	return self->is_attached ? self->session.attachment.link.socket : -1;
}

const struct session *tracing_session(const struct tracing *self)
{
	return &self->session;
}

const char *tracing_note(const struct tracing *self, unsigned domain)
{
	return trace_note(&self->trace, domain);
}

const char *tracing_end_note(const struct tracing *self, unsigned note)
{
	return trace_end_note(&self->trace, note);
}

uint32_t tracing_absent(const struct tracing *self)
{
	return trace_absent(&self->trace) & ~self->found_before;
}

uint32_t tracing_held(const struct tracing *self)
{
	return trace_held(&self->trace);
}

static uint64_t count_turned(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->layout.slot_count; i++)
		sum += ring_turned(rings_slot(trace->rings, i));
	return sum;
}

static struct work_left count_work_left(const struct trace *trace)
{
	const struct rings *rings = trace->rings;

	return (struct work_left){ __atomic_load_n(&rings->work_cut, __ATOMIC_RELAXED),
				   __atomic_load_n(&rings->work_lost, __ATOMIC_RELAXED),
				   __atomic_load_n(&rings->work_unseen, __ATOMIC_RELAXED),
				   count_turned(trace),
				   __atomic_load_n(&rings->work_uncounted, __ATOMIC_RELAXED) };
}

/* Import entries and queues are counted for the current program: those of earlier ones are gone. */
void tracing_totals(const struct tracing *self, struct tracing_totals *ret)
{
	struct tracing_totals now = { 0 };

	*ret = self->earlier;
	if (!self->collector)
		return;
	now.left = count_work_left(&self->trace);
	collector_totals(self->collector, &now.collected);
	trace_words(&self->trace, &now.words);
	trace_queues(&self->trace, &now.queues);
	tracing_totals_add(ret, &now);
}

static void add_collected(struct collect_totals *to, const struct collect_totals *more)
{
	to->records += more->records;
	to->record_bytes += more->record_bytes;
	to->invalid += more->invalid;
	to->threads += more->threads;
	to->functions += more->functions;
	drops_add(to->drops, more->drops);
}

static void add_words(struct trace_words *to, const struct trace_words *more)
{
	to->hooked += more->hooked;
	to->restored += more->restored;
	to->foreign += more->foreign;
	to->unwritable += more->unwritable;
	to->refused += more->refused;
	if (!to->left && more->left) {
		snprintf(to->left_function, sizeof(to->left_function), "%s", more->left_function);
		snprintf(to->left_module, sizeof(to->left_module), "%s", more->left_module);
	}
	to->left += more->left;
}

void tracing_totals_add(struct tracing_totals *to, const struct tracing_totals *more)
{
	to->processes += more->processes;
	to->missed += more->missed;
	add_collected(&to->collected, &more->collected);
	add_words(&to->words, &more->words);
	to->left.cut += more->left.cut;
	to->left.lost += more->left.lost;
	to->left.unseen += more->left.unseen;
	to->left.turned += more->left.turned;
	to->left.uncounted += more->left.uncounted;
	to->syscalls_before += more->syscalls_before;
	to->syscalls_under_way += more->syscalls_under_way;
	trace_queues_add(&to->queues, &more->queues);
}

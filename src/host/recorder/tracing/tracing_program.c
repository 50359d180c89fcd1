/*
 * One program of a traced process: its stacks and its collector, what its filters forbid, and what
 * was read from it.
 */
#include "host/recorder/tracing/tracing_private.h"

#include "host/core/notes.h"
#include "host/interpreter/interpreter.h"
#include "host/recorder/windows/windows.h"
#include "host/recording/facts.h"
#include "host/unwind/space.h"

#include <errno.h>
#include <stdio.h>

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
	const struct space *space;
	uint32_t with_callers = DOMAIN_BIT(ALLOC) | DOMAIN_BIT(IO) | DOMAIN_BIT(LOCK);
	int r;

	if (!(trace_domains(given) & with_callers) && !trace_reads_launches(given))
		return 0;
	callers_free(self->callers);
	self->callers = NULL;
	r = callers_new(&self->callers, self->programs, self->pid, self->process, self->stacks,
			err);
	if (r == -EACCES || r == -EPERM)
		return 0; /* the attach, which is next, is refused with the same reason */
	if (r)
		return r;
	space = callers_space(self->callers);
	self->has_python = interpreter_title_in(space, /* is_read_outside */ true);
	if (given->alloc_stacks && !given->alloc_sample && self->has_python)
		note_add(
			"stacks of allocations of %d have no lines of Python: --alloc-sample has them",
			(int)self->pid);
	source->callers = callers_source(self->callers);
	__atomic_store_n(&self->trace.rings->stack_end, space->start_stack, __ATOMIC_RELAXED);
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
		.take_reading = self->windows ? device_windows_add : NULL,
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

void tracing_heed_filters(struct tracing *self)
{
	const struct attach_report *report = &self->session.attachment.report;
	uint32_t domains = report->denies_probes ? trace_domains(&self->given) : 0;

	if (domains & DOMAIN_BIT(MARKER))
		note_add(
			"ranges and marks of %d have no names: a seccomp filter of one thread may kill a thread that reads them",
			(int)self->pid);
	if (domains & DOMAIN_BIT(IO))
		note_add(
			"connections that %d accepted may lack the address: a seccomp filter of one thread may kill a thread that reads it",
			(int)self->pid);
	if (!self->stacks)
		return;
	if (!report->denies_stacks)
		call_stacks_set_allowed(self->stacks, true);
	else if (trace_reads_launches(&self->given) || self->has_python)
		note_add(
			"%s of %d have no stacks of Python: a seccomp filter may kill a thread that reads them",
			trace_reads_launches(&self->given) ? "launches" : "calls", (int)self->pid);
}

int tracing_attach(struct tracing *self, const struct session_options *options, struct err *err)
{
	int r;

	/* States given before were allowed by the filters of that time. */
	if (self->stacks)
		call_stacks_set_allowed(self->stacks, false);
	for (uint32_t i = 0; self->stacks && i < self->trace.layout.slot_count; i++)
		ring_set_python(rings_slot(self->trace.rings, i), 0, 0);
	r = session_open(&self->session, self->pid, options, err);
	if (!r)
		tracing_heed_filters(self);
	return r;
}

/* Import entries and queues are counted for the current program: those of earlier ones are gone. */
void tracing_totals(const struct tracing *self, struct tracing_totals *ret)
{
	const struct rings *rings = self->trace.rings;
	struct tracing_totals now = { 0 };

	*ret = self->earlier;
	if (!self->collector)
		return;
	now.left.cut = __atomic_load_n(&rings->work_cut, __ATOMIC_RELAXED);
	now.left.lost = __atomic_load_n(&rings->work_lost, __ATOMIC_RELAXED);
	now.left.unseen = __atomic_load_n(&rings->work_unseen, __ATOMIC_RELAXED);
	now.left.uncounted = __atomic_load_n(&rings->work_uncounted, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < self->trace.layout.slot_count; i++)
		now.left.turned += ring_turned(rings_slot(self->trace.rings, i));
	collector_totals(self->collector, &now.collected);
	trace_words(&self->trace, &now.words);
	trace_queues(&self->trace, &now.queues);
	tracing_totals_add(ret, &now);
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
	to->collected.records += more->collected.records;
	to->collected.record_bytes += more->collected.record_bytes;
	to->collected.invalid += more->collected.invalid;
	to->collected.threads += more->collected.threads;
	to->collected.functions += more->collected.functions;
	drops_add(to->collected.drops, more->collected.drops);
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

/*
 * What processes came to, from counters that are read, and whether that is all.  Host only; asks
 * nobody.
 */
#include "host/counters/counting.h"

#include <string.h>

#define REST_SHARE  100u      /* of the time of a process, which threads may miss */
#define REST_NS     100000u   /* or so much: counters are switched one after another */
#define COMPARED_NS 20000000u /* less processor time than this is not compared */
#define TOLERANCE   20u       /* one part in so many */
#define SWITCH_NS   10000u    /* what a context switch takes, on slow machines */

/* By threads the processor's events are in their counters only. */
static const struct counter_set *counted_set_of(const struct counting *self,
						const struct counted_process *process, size_t event)
{
	return self->options.by_thread && self->options.events->items[event].needs_pmu
		       ? &process->threads
		       : &process->whole;
}

const struct counter_answer *counting_answer(const struct counting *self,
					     const struct counted_process *process, size_t event)
{
	return &counted_set_of(self, process, event)->answers[event];
}

/* Where its clock stands among the events; events->count: nowhere. */
static size_t counted_find_clock(const struct counted_process *self)
{
	const struct counter_events *events = self->whole.events;
	size_t i = 0;

	while (i < events->count && strcmp(events->items[i].base, "task-clock"))
		i++;
	return i;
}

/* Is there processor time that no thread's counters have? */
static bool counted_has_rest(const struct counted_process *self, bool is_interval)
{
	size_t clock = counted_find_clock(self);
	struct count whole, part, rest;

	if (clock == self->whole.events->count)
		return false;
	whole = counter_set_count(&self->whole, NULL, clock, is_interval);
	part = counter_set_count(&self->threads, NULL, clock, is_interval);
	rest = count_rest(&whole, &part);
	return count_has_value(&rest) && rest.value > MAX(whole.value / REST_SHARE, REST_NS);
}

/* Counters of threads begin when these are first seen, and see none that lives for a short time. */
static bool counted_misses(const struct counted_process *self, bool is_interval)
{
	return self->later_threads > (is_interval ? self->later_threads_before : 0) ||
	       self->has_unseen_threads || counted_has_rest(self, is_interval);
}

static void subject_mark_incomplete(const struct counting *self, struct counted_subject *subject)
{
	for (size_t i = 0; i < self->options.events->count; i++)
		if (self->options.events->items[i].needs_pmu &&
		    count_has_value(&subject->counts[i]))
			subject->counts[i].status = COUNT_INCOMPLETE;
}

void counting_whole(const struct counting *self, const struct counted_process *process,
		    bool is_interval, struct counted_subject *ret)
{
	*ret = (struct counted_subject){ .pid = process->pid,
					 .name = process->name,
					 .has_ended = process->has_ended,
					 .threads = process->whole.count };
	for (size_t i = 0; i < self->options.events->count; i++)
		ret->counts[i] = counter_set_count(counted_set_of(self, process, i),
						   /* thread */ NULL, i, is_interval);
	if (self->options.by_thread && counted_misses(process, is_interval))
		subject_mark_incomplete(self, ret);
}

bool counting_misses_threads(const struct counting *self, const struct counted_process *process)
{
	struct counted_subject whole;

	counting_whole(self, process, /* is_interval */ false, &whole);
	for (size_t i = 0; i < self->options.events->count; i++)
		if (whole.counts[i].status == COUNT_INCOMPLETE)
			return true;
	return false;
}

void counting_thread(const struct counting *self, const struct counted_process *process,
		     size_t index, bool is_interval, struct counted_subject *ret)
{
	const struct counter_thread *thread = &process->threads.threads[index];

	*ret = (struct counted_subject){ .pid = thread->pid,
					 .tid = thread->tid,
					 .name = thread->name,
					 .has_ended = thread->has_ended };
	for (size_t i = 0; i < self->options.events->count; i++)
		ret->counts[i] = counter_set_count(&process->threads, thread, i, is_interval);
}

bool counting_rest(const struct counting *self, const struct counted_process *process,
		   bool is_interval, struct counted_subject *ret)
{
	bool has_any = false;

	*ret = (struct counted_subject){ .pid = process->pid,
					 .name = "other threads",
					 .is_rest = true };
	for (size_t i = 0; i < self->options.events->count; i++) {
		struct count whole, part;

		part = counter_set_count(&process->threads, NULL, i, is_interval);
		if (self->options.events->items[i].needs_pmu && count_has_value(&part))
			part = (struct count){ .status = COUNT_NOT_COUNTED };
		whole = counter_set_count(counted_set_of(self, process, i), NULL, i, is_interval);
		ret->counts[i] = count_rest(&whole, &part);
		has_any |= ret->counts[i].value > 0;
	}
	return has_any;
}

/* The count of an event of the kernel's own, of all the time; false: it has none. */
static bool counted_find(const struct counted_process *self, const char *name, uint64_t *ret)
{
	const struct counter_events *events = self->whole.events;

	for (size_t i = 0; i < events->count; i++) {
		if (strcmp(events->items[i].base, name) || !counter_set_has(&self->whole, i))
			continue;
		*ret = counter_set_count(&self->whole, NULL, i, /* is_interval */ false).value;
		return true;
	}
	return false;
}

/* Compared only where there is a reason.  The process's clock has what each switch takes, which the
 * count has not, and more where the machine is itself a guest.  The count has what the hypervisor
 * and interrupts took, which the clock has not, and children. */
bool counting_is_off(const struct counting *self, const struct counted_process *process,
		     double *ret_share)
{
	uint64_t used_ns = process->cpu_end_ns - process->cpu_begin_ns, counted_ns, switches;
	bool may_be_double =
		process->has_doubt && !self->options.has_children && !self->counts_forks;

	if ((!process->has_doubt && !process->has_new_rights) || !process->cpu_begin_ns ||
	    !process->cpu_end_ns || used_ns < COMPARED_NS ||
	    !counted_find(process, "task-clock", &counted_ns) ||
	    !counted_find(process, "context-switches", &switches))
		return false;
	*ret_share = (double)counted_ns / (double)used_ns;
	return counted_ns + switches * SWITCH_NS + used_ns / TOLERANCE < used_ns ||
	       (may_be_double && counted_ns > used_ns + used_ns / TOLERANCE);
}

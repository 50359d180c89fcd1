/*
 * What processes came to, from counters that are read, and whether that is all.  Host only; asks
 * nobody.
 */
#include "host/counters/counting.h"

#include <string.h>

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

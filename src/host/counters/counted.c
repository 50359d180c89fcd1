/*
 * Computes the counts of processes from counters that were read, and whether they are complete.
 */
#include "host/counters/counting.h"

#include <string.h>

#define REST_SHARE  100u      /* of the time of a process, which threads may miss */
#define REST_NS     100000u   /* or so much: counters are switched one after another */
#define COMPARED_NS 20000000u /* less processor time than this is not compared */
#define TOLERANCE   20u       /* one part in so many */
#define SWITCH_NS   10000u    /* the time of a context switch, on slow machines */

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

/* Is there processor time that no thread's counters include? */
static bool counted_has_rest(const struct counted_process *self, bool is_interval)
{
	size_t clock = counter_events_find(self->whole.events, "task-clock");
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

/* Is there an event that is not counted for all threads? */
static bool counted_has_incomplete(const struct counting *self,
				   const struct counted_process *process)
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

/* For the processor's events the rest is the sum of threads whose lines were folded. */
static struct count counted_pmu_rest(const struct counted_process *self, size_t event,
				     bool is_interval)
{
	struct count folded = counter_set_count_folded(&self->threads, event, is_interval);

	if (!count_has_value(&folded))
		return folded;
	if (!self->threads.folded_count)
		return (struct count){ .status = COUNT_NOT_COUNTED };
	folded.status = COUNT_INCOMPLETE;
	return folded;
}

/* All that no line of a thread has. */
static struct count counted_rest(const struct counted_process *self, size_t event, bool is_interval)
{
	struct count whole, part, rest;

	if (self->whole.events->items[event].needs_pmu)
		return counted_pmu_rest(self, event, is_interval);
	whole = counter_set_count(&self->whole, NULL, event, is_interval);
	part = counter_set_count(&self->threads, NULL, event, is_interval);
	rest = count_rest(&whole, &part);
	if (count_has_value(&rest))
		rest.value += counter_set_count_folded(&self->threads, event, is_interval).value;
	return rest;
}

bool counting_rest(const struct counting *self, const struct counted_process *process,
		   bool is_interval, struct counted_subject *ret)
{
	bool has_any = false;

	*ret = (struct counted_subject){ .pid = process->pid,
					 .name = "other threads",
					 .is_rest = true };
	for (size_t i = 0; i < self->options.events->count; i++) {
		ret->counts[i] = counted_rest(process, i, is_interval);
		has_any |= !self->options.events->items[i].is_hidden && ret->counts[i].value > 0;
	}
	return has_any;
}

/* The count of an event of the kernel's own, of all the time; false: it has none. */
static bool counted_find(const struct counted_process *self, const char *name, uint64_t *ret)
{
	size_t event = counter_events_find(self->whole.events, name);

	if (event == self->whole.events->count || !counter_set_has(&self->whole, event))
		return false;
	*ret = counter_set_count(&self->whole, NULL, event, /* is_interval */ false).value;
	return true;
}

/* Do both exist, and suffice?  The clock of an ended process cannot be read. */
static bool counted_can_compare(const struct counted_process *self, uint64_t *ret_used_ns,
				uint64_t *ret_counted_ns, uint64_t *ret_switches)
{
	*ret_used_ns = self->cpu_end_ns - self->cpu_begin_ns;
	return self->cpu_begin_ns && self->cpu_end_ns && *ret_used_ns >= COMPARED_NS &&
	       counted_find(self, "task-clock", ret_counted_ns) &&
	       counted_find(self, "context-switches", ret_switches);
}

/* Compared only for a reason.  The process's clock includes each switch, which the count lacks, and
 * more in a virtual machine.  The count includes the time of hypervisor and interrupts, which the
 * clock lacks, and children, which may hide a gap. */
enum counting_verdict counting_check(const struct counting *self,
				     const struct counted_process *process, double *ret_share)
{
	bool has_others = self->options.has_children || self->counts_forks;
	uint64_t used_ns, counted_ns, switches;

	if (!process->has_doubt && !process->has_new_rights)
		return COUNTING_WHOLE;
	if (!counted_can_compare(process, &used_ns, &counted_ns, &switches))
		return COUNTING_DOUBTFUL;
	*ret_share = (double)counted_ns / (double)used_ns;
	if (counted_ns + switches * SWITCH_NS + used_ns / TOLERANCE < used_ns)
		return COUNTING_OFF;
	if (has_others)
		return COUNTING_DOUBTFUL;
	return process->has_doubt && counted_ns > used_ns + used_ns / TOLERANCE ? COUNTING_OFF
										: COUNTING_WHOLE;
}

bool counting_is_complete(const struct counting *self, const struct counted_process *process)
{
	double share;

	return counting_check(self, process, &share) == COUNTING_WHOLE &&
	       !counted_has_incomplete(self, process);
}

/*
 * What all writers share: which processes are shown, and the notes on their counts.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/print.h"

#include <stdlib.h>
#include <string.h>

bool stat_is_shown(const struct stat_view *view, const struct counted_process *process,
		   size_t event)
{
	const struct counter_event *item = &view->counting->options.events->items[event];

	return !item->is_hidden &&
	       (!item->is_optional || !counting_answer(view->counting, process, event)->refusal);
}

/* The counts of one subject. */
static void stat_visit_subject(const struct stat_view *view, const struct counted_process *process,
			       const struct counted_subject *subject, const struct stat_span *span,
			       stat_visitor *visit)
{
	const struct counter_events *events = view->counting->options.events;

	for (size_t i = 0; i < events->count; i++) {
		const struct counter_answer *answer = counting_answer(view->counting, process, i);
		struct stat_count shown = { .subject = subject,
					    .event = &events->items[i],
					    .count = &subject->counts[i] };

		if (!stat_is_shown(view, process, i))
			continue;
		shown.metric = counter_metric_find(events, subject->counts, i,
						   span->end_ns - span->begin_ns);
		counter_shown_name(shown.event, answer, shown.name);
		counter_reason_find(shown.event, answer, shown.count, &view->machine,
				    &shown.reason);
		visit(&shown, span);
	}
}

void stat_visit(const struct stat_view *view, const struct stat_span *span, stat_visitor *visit)
{
	const struct counting *counting = view->counting;
	struct counted_subject subject;

	for (size_t i = 0; i < counting->count; i++) {
		const struct counted_process *process = &counting->processes[i];

		counting_whole(counting, process, span->is_interval, &subject);
		stat_visit_subject(view, process, &subject, span, visit);
		if (!counting->options.by_thread)
			continue;
		for (size_t k = 0; k < process->threads.count; k++) {
			counting_thread(counting, process, k, span->is_interval, &subject);
			stat_visit_subject(view, process, &subject, span, visit);
		}
		if (counting_rest(counting, process, span->is_interval, &subject))
			stat_visit_subject(view, process, &subject, span, visit);
	}
}

/* Of the first process that has one; no name: there is none. */
struct told_reason {
	char name[COUNTER_NAME_MAX];
	struct counter_reason reason;
};

static void stat_find_reason(const struct stat_view *view, size_t event, struct told_reason *ret)
{
	const struct counting *counting = view->counting;
	struct counted_subject whole;

	for (size_t i = 0; i < counting->count && !ret->name[0]; i++) {
		const struct counted_process *process = &counting->processes[i];
		const struct counter_answer *answer = counting_answer(counting, process, event);

		counting_whole(counting, process, /* is_interval */ false, &whole);
		if (stat_is_shown(view, process, event) &&
		    counter_reason_find(&counting->options.events->items[event], answer,
					&whole.counts[event], &view->machine, &ret->reason))
			counter_shown_name(&counting->options.events->items[event], answer,
					   ret->name);
	}
}

static void reasons_tell(struct told_reason *reasons, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct counter_reason *reason = &reasons[i].reason;

		if (!reasons[i].name[0])
			continue;
		print(stderr, "note: %s", reasons[i].name);
		for (size_t k = i + 1; k < count; k++) {
			if (!reasons[k].name[0] || strcmp(reasons[k].reason.why, reason->why))
				continue;
			print(stderr, ", %s", reasons[k].name);
			reasons[k].name[0] = '\0';
		}
		print(stderr, ": %s%s%s\n", reason->why, reason->fix[0] ? "; " : "", reason->fix);
	}
}

static void stat_tell_share(const struct counting *counting, const struct counted_process *process)
{
	double share;
	enum counting_verdict verdict = counting_check(counting, process, &share);

	if (verdict == COUNTING_WHOLE)
		return;
	print(stderr, "note: %d (%s): ", (int)process->pid, process->name);
	if (verdict == COUNTING_OFF)
		print(stderr, "%.0f %% of the CPU time that it used was counted: ", share * 100);
	else
		print(stderr, "whether all of it was counted is not known: ");
	print(stderr, "%s; count again\n",
	      process->has_doubt ? "threads began while counting began"
				 : "its counters were closed, as when it executes a program with "
				   "other rights");
}

static void stat_tell_rest(const struct stat_view *view, const struct counted_process *process)
{
	const struct counting *counting = view->counting;
	struct counted_subject rest;

	if (!counting->options.by_thread || !counting_rest(counting, process, false, &rest))
		return;
	print(stderr,
	      "note: %d (%s): 'other threads' counts threads before limpet first saw them, and "
	      "threads that lived between two reads of the list of threads, up to %.0f ms apart",
	      (int)process->pid, process->name, (double)counting->look_apart_ns / 1e6);
	if (process->threads.folded_count)
		print(stderr, "; %zu that ended early have no line of their own",
		      process->threads.folded_count);
	fputc('\n', stderr);
}

void stat_tell_reasons(const struct stat_view *view)
{
	const struct counting *counting = view->counting;
	size_t count = counting->options.events->count;
	struct told_reason *reasons = calloc(count, sizeof(*reasons));

	for (size_t i = 0; reasons && i < count; i++)
		stat_find_reason(view, i, &reasons[i]);
	if (reasons)
		reasons_tell(reasons, count);
	free(reasons);
	for (size_t i = 0; i < counting->count; i++) {
		stat_tell_share(counting, &counting->processes[i]);
		stat_tell_rest(view, &counting->processes[i]);
	}
	if (counting->counts_forks)
		print(stderr, "note: processes that it starts are counted too: before Linux 5.13 "
			      "they cannot be told from its threads\n");
	if (counting->threads_unseen)
		print(stderr,
		      "note: %lu threads have no line of their own: no more descriptors; ulimit "
		      "-n 1048576\n",
		      counting->threads_unseen);
}

/*
 * Counts for people, and the notes on them.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <stdlib.h>
#include <string.h>

#define GROUPED_MAX  32u
#define COLUMN_WIDTH 14

/* "1,234,567" */
static const char *number_group(uint64_t value, char ret[GROUPED_MAX])
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%lu", value), out = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			ret[out++] = ',';
		ret[out++] = digits[i];
	}
	ret[out] = '\0';
	return ret;
}

/* Times in milliseconds; where there is no value, why in two words. */
static const char *count_text(const struct counter_event *event, const struct count *count,
			      char ret[GROUPED_MAX])
{
	char whole[GROUPED_MAX];

	if (!count_has_value(count))
		snprintf(ret, GROUPED_MAX, "<%s>", count_status_name(count->status));
	else if (event->is_time)
		snprintf(ret, GROUPED_MAX, "%s.%03u", number_group(count->value / 1000000, whole),
			 (unsigned)(count->value / 1000 % 1000));
	else
		number_group(count->value, ret);
	return ret;
}

static void text_print_count(const struct stat_view *view, const struct counted_process *process,
			     const struct counted_subject *subject, size_t index)
{
	const struct counter_events *events = view->counting->options.events;
	const struct counter_event *event = &events->items[index];
	const struct count *count = &subject->counts[index];
	struct counter_metric metric = counter_metric_find(events, subject->counts, index,
							   view->span.end_ns - view->span.begin_ns);
	char name[COUNTER_NAME_MAX], number[GROUPED_MAX];

	counter_shown_name(event, counting_answer(view->counting, process, index), name);
	print(stdout, "%20s %-2s %-24s", count_text(event, count, number),
	      event->is_time && count_has_value(count) ? "ms" : "", name);
	if (metric.unit)
		print(stdout, " %14.3f %s", metric.value, metric.unit);
	if (count_has_value(count) && count->share < 1)
		print(stdout, "  (%.2f %% of the time%s)", count->share * 100,
		      event->is_partial ? "" : ", scaled");
	if (count->status == COUNT_INCOMPLETE)
		fputs("  (incomplete)", stdout);
	fputc('\n', stdout);
}

/* A subject that never ran has counts, and all are 0. */
static bool subject_did_run(const struct counting *counting, const struct counted_subject *subject)
{
	bool has_counts = false;

	for (size_t i = 0; i < counting->options.events->count; i++) {
		if (subject->counts[i].value)
			return true;
		has_counts |= count_has_value(&subject->counts[i]);
	}
	return !has_counts;
}

static void text_print_whole(const struct stat_view *view, const struct counted_process *process,
			     const struct counted_subject *subject)
{
	const struct counting *counting = view->counting;

	print(stdout, "\n%d (%s)", process->pid, process->name);
	if (view->span.is_interval)
		print(stdout, ", %.3f s to %.3f s", (double)view->span.begin_ns / 1e9,
		      (double)view->span.end_ns / 1e9);
	else
		print(stdout, ": counted for %.3f s; %zu thread%s at the beginning",
		      (double)(view->span.end_ns - view->span.begin_ns) / 1e9, subject->threads,
		      plural(subject->threads));
	print(stdout, "%s%s\n\n", subject->has_ended ? "; it has ended" : "",
	      subject_did_run(counting, subject) ? "" : "; it did not run");
	/* Events that cannot be counted are printed once, with the totals. */
	for (size_t i = 0; i < counting->options.events->count; i++)
		if (stat_is_shown(view, process, i) &&
		    (!view->span.is_interval || !counting_answer(counting, process, i)->refusal))
			text_print_count(view, process, subject, i);
}

static bool text_has_column(const struct stat_view *view, const struct counted_process *process,
			    size_t event)
{
	return !view->counting->options.events->items[event].is_hidden &&
	       !counting_answer(view->counting, process, event)->refusal;
}

static int text_column_width(const struct counter_event *event)
{
	return MAX(COLUMN_WIDTH, (int)strlen(event->name) + (event->is_time ? 3 : 2));
}

static void text_print_heading(const struct stat_view *view, const struct counted_process *process)
{
	const struct counter_events *events = view->counting->options.events;
	char name[COUNTER_NAME_MAX], shown[COUNTER_NAME_MAX + 4];

	print(stdout, "\n%9s %-16s", "TID", "NAME");
	for (size_t i = 0; i < events->count; i++) {
		const struct counter_event *event = &events->items[i];

		if (!text_has_column(view, process, i))
			continue;
		counter_shown_name(event, counting_answer(view->counting, process, i), name);
		print_into(shown, sizeof(shown), "%s%s", name, event->is_time ? " ms" : "");
		print(stdout, " %*s", text_column_width(event), shown);
	}
	fputc('\n', stdout);
}

static void text_print_thread(const struct stat_view *view, const struct counted_process *process,
			      const struct counted_subject *subject)
{
	const struct counter_events *events = view->counting->options.events;
	char number[GROUPED_MAX], shown[GROUPED_MAX + 2];

	if (subject->is_rest)
		print(stdout, "%9s %-16s", "-", subject->name);
	else
		print(stdout, "%9d %-16s", subject->tid, subject->name);
	for (size_t i = 0; i < events->count; i++) {
		const struct count *count = &subject->counts[i];

		if (!text_has_column(view, process, i))
			continue;
		print_into(shown, sizeof(shown), "%s%s", count->status == COUNT_SCALED ? "~" : "",
			   count_text(&events->items[i], count, number));
		print(stdout, " %*s", text_column_width(&events->items[i]), shown);
	}
	print(stdout, "%s\n", subject->has_ended ? "  ended" : "");
}

/* Idle threads are only counted. */
static void text_print_threads(const struct stat_view *view, const struct counted_process *process)
{
	const struct counting *counting = view->counting;
	struct counted_subject subject;
	size_t idle = 0;

	if (!counting->options.events->count) /* of devices only */
		return;
	text_print_heading(view, process);
	for (size_t i = 0; i < process->threads.count; i++) {
		counting_thread(counting, process, i, view->span.is_interval, &subject);
		if (subject_did_run(counting, &subject))
			text_print_thread(view, process, &subject);
		else
			idle++;
	}
	if (counting_rest(counting, process, view->span.is_interval, &subject))
		text_print_thread(view, process, &subject);
	if (idle)
		print(stdout, "%9zu thread%s did not run\n", idle, plural(idle));
}

/* Means have a fraction, sums have none where they are whole. */
static void text_print_device(const struct stat_view *view, const struct stat_count *count)
{
	char grouped[GROUPED_MAX];

	(void)view;
	if (!count->value[0])
		print(stdout, "%20s %-3s", "<not counted>", "");
	else if (count->is_level || count->amount >= 1e18 ||
		 count->amount != (double)(uint64_t)count->amount)
		print(stdout, "%20.3f %-3s", count->amount, count->unit);
	else
		print(stdout, "%20s %-3s", number_group((uint64_t)count->amount, grouped), "");
	print(stdout, " %-24s", count->name);
	if (count->metric.unit)
		print(stdout, " %14.3f /s", count->metric.value);
	print(stdout, "  (%s)\n", count->device);
}

static void text_begin(const struct stat_view *view, uint64_t duration_ns)
{
	const struct counting *counting = view->counting;

	print(stderr, "counting");
	for (size_t i = 0; i < counting->count; i++)
		print(stderr, "%s %d (%s)", i ? "," : "", counting->processes[i].pid,
		      counting->processes[i].name);
	if (duration_ns != UINT64_MAX)
		print(stderr, " for %.10g s", (double)duration_ns / 1e9);
	print(stderr, "; Enter or Ctrl-C stops\n");
}

static void text_span(const struct stat_view *view)
{
	struct counted_subject subject;

	for (size_t i = 0; i < view->counting->count; i++) {
		const struct counted_process *process = &view->counting->processes[i];

		counting_whole(view->counting, process, view->span.is_interval, &subject);
		text_print_whole(view, process, &subject);
		if (view->counting->options.by_thread)
			text_print_threads(view, process);
	}
	if (view->devices)
		fputc('\n', stdout);
	stat_visit_devices(view, text_print_device);
	fflush(stdout);
}

static void text_end(const struct stat_view *view, const char *ending)
{
	(void)view;
	(void)ending;
	fputc('\n', stdout);
	fflush(stdout);
}

const struct stat_writer stat_text = { text_begin, text_span, text_end };

/* Why an event was not counted, in the first process that has a reason; name "": in none. */
struct noted_reason {
	char name[COUNTER_NAME_MAX];
	struct counter_reason reason;
};

static void reason_find(const struct stat_view *view, size_t event, struct noted_reason *ret)
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

static void reasons_print(struct noted_reason *reasons, size_t count)
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

static void print_share(const struct counting *counting, const struct counted_process *process)
{
	double share;
	enum counting_verdict verdict = counting_check(counting, process, &share);

	if (verdict == COUNTING_WHOLE)
		return;
	print(stderr, "note: %d (%s): ", process->pid, process->name);
	if (verdict == COUNTING_OFF)
		print(stderr, "%.0f %% of the CPU time that it used was counted: ", share * 100);
	else
		print(stderr, "whether all of it was counted is not known: ");
	print(stderr, "%s; count again\n",
	      process->has_doubt ? "threads began while counting began"
				 : "its counters were closed, as when it executes a program with "
				   "other rights");
}

static void print_rest(const struct stat_view *view, const struct counted_process *process)
{
	const struct counting *counting = view->counting;
	struct counted_subject rest;

	if (!counting->options.by_thread || !counting_rest(counting, process, false, &rest))
		return;
	print(stderr,
	      "note: %d (%s): 'other threads' counts threads before limpet first saw them, and "
	      "threads that lived between two reads of the list of threads, up to %.0f ms apart",
	      process->pid, process->name, (double)counting->look_apart_ns / 1e6);
	if (process->threads.folded_count)
		print(stderr, "; %zu that ended early have no line of their own",
		      process->threads.folded_count);
	fputc('\n', stderr);
}

void stat_print_reasons(const struct stat_view *view)
{
	const struct counting *counting = view->counting;
	size_t count = counting->options.events->count;
	struct noted_reason *reasons = calloc(count, sizeof(*reasons));

	for (size_t i = 0; reasons && i < count; i++)
		reason_find(view, i, &reasons[i]);
	if (reasons)
		reasons_print(reasons, count);
	free(reasons);
	for (size_t i = 0; i < counting->count; i++) {
		print_share(counting, &counting->processes[i]);
		print_rest(view, &counting->processes[i]);
	}
	if (counting->counts_forks)
		print(stderr, "note: processes that it starts are counted too: before Linux 5.13 "
			      "they cannot be told from its threads\n");
	print_counted(stderr, counting->threads_unseen,
		      "note: # threads have no line of their own: no more descriptors; ulimit "
		      "-n 1048576\n");
}

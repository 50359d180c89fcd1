/*
 * Counts for people.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GROUPED_MAX  32u
#define COLUMN_WIDTH 14
#define NAME_SHOWN   80u

/* "1,234,567" */
static const char *number_group(uint64_t value, char ret[GROUPED_MAX])
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value), out = 0;

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

static void text_print_metric(const struct stat_view *view, const struct counted_subject *subject,
			      size_t event, const struct stat_span *span)
{
	struct counter_metric metric =
		counter_metric_find(view->counting->options.events, subject->counts, event,
				    span->end_ns - span->begin_ns);

	if (metric.unit)
		print(stdout, " %14.3f %s", metric.value, metric.unit);
}

static void text_print_count(const struct stat_view *view, const struct counted_process *process,
			     const struct counted_subject *subject, size_t index,
			     const struct stat_span *span)
{
	const struct counter_event *event = &view->counting->options.events->items[index];
	const struct count *count = &subject->counts[index];
	char name[COUNTER_NAME_MAX], number[GROUPED_MAX];

	counter_shown_name(event, counting_answer(view->counting, process, index), name);
	print(stdout, "%20s %-2s %-24s", count_text(event, count, number),
	      event->is_time && count_has_value(count) ? "ms" : "", name);
	text_print_metric(view, subject, index, span);
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

/* Events that cannot be counted are printed once, with the totals. */
static bool text_has_line(const struct stat_view *view, const struct counted_process *process,
			  size_t event, const struct stat_span *span)
{
	return stat_is_shown(view, process, event) &&
	       (!span->is_interval || !counting_answer(view->counting, process, event)->refusal);
}

static void text_print_whole(const struct stat_view *view, const struct counted_process *process,
			     const struct counted_subject *subject, const struct stat_span *span)
{
	const struct counting *counting = view->counting;

	print(stdout, "\n%d (%s)", (int)process->pid, process->name);
	if (span->is_interval)
		print(stdout, ", %.3f s to %.3f s", (double)span->begin_ns / 1e9,
		      (double)span->end_ns / 1e9);
	else
		print(stdout, ": counted for %.3f s; %zu thread%s at the beginning",
		      (double)(span->end_ns - span->begin_ns) / 1e9, subject->threads,
		      plural(subject->threads));
	print(stdout, "%s%s\n\n", subject->has_ended ? "; it has ended" : "",
	      subject_did_run(counting, subject) ? "" : "; it did not run");
	for (size_t i = 0; i < counting->options.events->count; i++)
		if (text_has_line(view, process, i, span))
			text_print_count(view, process, subject, i, span);
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
		print(stdout, "%9d %-16s", (int)subject->tid, subject->name);
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
static void text_print_threads(const struct stat_view *view, const struct counted_process *process,
			       const struct stat_span *span)
{
	const struct counting *counting = view->counting;
	struct counted_subject subject;
	size_t idle = 0;

	if (!counting->options.events->count) /* of devices only */
		return;
	text_print_heading(view, process);
	for (size_t i = 0; i < process->threads.count; i++) {
		counting_thread(counting, process, i, span->is_interval, &subject);
		if (subject_did_run(counting, &subject))
			text_print_thread(view, process, &subject);
		else
			idle++;
	}
	if (counting_rest(counting, process, span->is_interval, &subject))
		text_print_thread(view, process, &subject);
	if (idle)
		print(stdout, "%9zu thread%s did not run\n", idle, plural(idle));
}

/* Means have a fraction, sums have none where they are whole. */
static void text_print_device(const struct stat_device_count *count, const struct stat_span *span)
{
	char grouped[GROUPED_MAX];

	(void)span;
	if (!count->has_value)
		print(stdout, "%20s %-3s", "<not counted>", "");
	else if (count->is_level || count->value >= 1e18 ||
		 count->value != (double)(uint64_t)count->value)
		print(stdout, "%20.3f %-3s", count->value, count->unit);
	else
		print(stdout, "%20s %-3s", number_group((uint64_t)count->value, grouped), "");
	print(stdout, " %-24s", count->name);
	if (count->has_value && !count->is_level)
		print(stdout, " %14.3f /s", count->rate);
	print(stdout, "  (%s)\n", count->device);
}

static void text_begin(const struct stat_view *view, uint64_t duration_ns)
{
	const struct counting *counting = view->counting;

	print(stderr, "counting");
	for (size_t i = 0; i < counting->count; i++)
		print(stderr, "%s %d (%s)", i ? "," : "", (int)counting->processes[i].pid,
		      counting->processes[i].name);
	if (duration_ns != UINT64_MAX)
		print(stderr, " for %.10g s", (double)duration_ns / 1e9);
	print(stderr, "; Enter or Ctrl-C stops\n");
}

static void text_span(const struct stat_view *view, const struct stat_span *span)
{
	struct counted_subject subject;

	for (size_t i = 0; i < view->counting->count; i++) {
		const struct counted_process *process = &view->counting->processes[i];

		counting_whole(view->counting, process, span->is_interval, &subject);
		text_print_whole(view, process, &subject, span);
		if (view->counting->options.by_thread)
			text_print_threads(view, process, span);
	}
	if (view->devices)
		fputc('\n', stdout);
	stat_visit_devices(view, span, text_print_device);
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

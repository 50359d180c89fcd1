/*
 * Counts for spreadsheets: one line for each of them.
 */
#include "host/cli/stat/writer.h"
#include "host/core/print.h"
#include "host/export/exporter.h"

#include <inttypes.h>

static void csv_begin(const struct stat_view *view, uint64_t duration_ns)
{
	(void)view;
	(void)duration_ns;
	fputs("scope,begin_s,end_s,pid,tid,comm,event,value,unit,status,share,metric,metric_unit,"
	      "why\n",
	      stdout);
	fflush(stdout);
}

static void csv_put_subject(const struct counted_subject *subject, const struct stat_span *span)
{
	print(stdout, "%s,%.9f,%.9f,%d,", span->is_interval ? "interval" : "total",
	      (double)span->begin_ns / 1e9, (double)span->end_ns / 1e9, (int)subject->pid);
	if (subject->tid)
		print(stdout, "%d", (int)subject->tid);
	else if (subject->is_rest)
		fputs("other", stdout);
	fputc(',', stdout);
	export_quoted(stdout, subject->name);
}

/* A count that is not there is empty, never 0. */
static void csv_put_count(const struct counter_event *event, const struct count *count)
{
	if (count_has_value(count))
		print(stdout, ",%" PRIu64, count->value);
	else
		fputc(',', stdout);
	print(stdout, ",%s,%s,%.6f,", event->is_time ? "ns" : "", count_status_name(count->status),
	      count->share);
}

static void csv_write_count(const struct stat_view *view, const struct counted_process *process,
			    const struct counted_subject *subject, size_t index,
			    const struct stat_span *span)
{
	const struct counter_events *events = view->counting->options.events;
	const struct counter_answer *answer = counting_answer(view->counting, process, index);
	struct counter_metric metric =
		counter_metric_find(events, subject->counts, index, span->end_ns - span->begin_ns);
	struct counter_reason reason;
	char name[COUNTER_NAME_MAX];

	counter_shown_name(&events->items[index], answer, name);
	counter_reason_find(&events->items[index], answer, &subject->counts[index], &view->machine,
			    &reason);
	csv_put_subject(subject, span);
	fputc(',', stdout);
	export_quoted(stdout, name);
	csv_put_count(&events->items[index], &subject->counts[index]);
	if (metric.unit)
		print(stdout, "%.6f,%s,", metric.value, metric.unit);
	else
		fputs(",,", stdout);
	export_quoted(stdout, reason.why);
	fputc('\n', stdout);
}

static void csv_write_subject(const struct stat_view *view, const struct counted_process *process,
			      const struct counted_subject *subject, const struct stat_span *span)
{
	for (size_t i = 0; i < view->counting->options.events->count; i++)
		if (stat_is_shown(view, process, i))
			csv_write_count(view, process, subject, i, span);
}

static void csv_span(const struct stat_view *view, const struct stat_span *span)
{
	stat_visit(view, span, csv_write_subject);
	fflush(stdout);
}

static void csv_end(const struct stat_view *view, const char *ending)
{
	(void)view;
	(void)ending;
}

const struct stat_writer stat_csv = { csv_begin, csv_span, csv_end };

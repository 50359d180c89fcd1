/*
 * Counts for spreadsheets: one line for each of them.
 */
#include "host/cli/stat/writer.h"
#include "host/core/text/print.h"
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

static void csv_write_count(const struct stat_count *self, const struct stat_span *span)
{
	csv_put_subject(self->subject, span);
	fputc(',', stdout);
	export_quoted(stdout, self->name);
	csv_put_count(self->event, self->count);
	if (self->metric.unit)
		print(stdout, "%.6f,%s,", self->metric.value, self->metric.unit);
	else
		fputs(",,", stdout);
	export_quoted(stdout, self->reason.why);
	fputc('\n', stdout);
}

/* Counters of a device include all processes that use it: the process columns stay empty. */
static void csv_write_device(const struct stat_device_count *count, const struct stat_span *span)
{
	print(stdout, "%s,%.9f,%.9f,,,", span->is_interval ? "interval" : "total",
	      (double)span->begin_ns / 1e9, (double)span->end_ns / 1e9);
	export_quoted(stdout, count->device);
	fputc(',', stdout);
	export_quoted(stdout, count->name);
	if (count->has_value)
		print(stdout, ",%.15g,%s,counted,1.000000,", count->value, count->unit);
	else
		print(stdout, ",,%s,not counted,0.000000,", count->unit);
	if (count->has_value && !count->is_level)
		print(stdout, "%.6f,/s,\"\"\n", count->rate);
	else
		fputs(",,\"\"\n", stdout);
}

static void csv_span(const struct stat_view *view, const struct stat_span *span)
{
	stat_visit(view, span, csv_write_count);
	stat_visit_devices(view, span, csv_write_device);
	fflush(stdout);
}

static void csv_end(const struct stat_view *view, const char *ending)
{
	(void)view;
	(void)ending;
}

const struct stat_writer stat_csv = { csv_begin, csv_span, csv_end };

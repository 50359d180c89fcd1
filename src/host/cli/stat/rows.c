/*
 * Counts for programs: a line of csv or an object for each of them.
 */
#include "host/cli/stat/writer.h"
#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/export/values.h"

#include <stdlib.h>

bool stat_is_shown(const struct stat_view *view, const struct counted_process *process,
		   size_t event)
{
	const struct counter_event *item = &view->counting->options.events->items[event];

	return !item->is_hidden &&
	       (!item->is_optional || !counting_answer(view->counting, process, event)->refusal);
}

/* The counts of one subject. */
static void visit_subject(const struct stat_view *view, const struct counted_process *process,
			  const struct counted_subject *subject, stat_visitor *visit)
{
	const struct counter_events *events = view->counting->options.events;

	for (size_t i = 0; i < events->count; i++) {
		const struct counter_answer *answer = counting_answer(view->counting, process, i);
		const struct counter_event *event = &events->items[i];
		const struct count *count = &subject->counts[i];
		struct stat_count shown = { .subject = subject,
					    .unit = event->is_time ? "ns" : "",
					    .status = count->status,
					    .share = count->share };

		if (!stat_is_shown(view, process, i))
			continue;
		if (count_has_value(count))
			snprintf(shown.value, sizeof(shown.value), "%lu", count->value);
		shown.metric = counter_metric_find(events, subject->counts, i,
						   view->span.end_ns - view->span.begin_ns);
		counter_shown_name(event, answer, shown.name);
		counter_reason_find(event, answer, count, &view->machine, &shown.reason);
		visit(view, &shown);
	}
}

void stat_visit(const struct stat_view *view, stat_visitor *visit)
{
	const struct counting *counting = view->counting;
	struct counted_subject subject;

	for (size_t i = 0; i < counting->count; i++) {
		const struct counted_process *process = &counting->processes[i];

		counting_whole(counting, process, view->span.is_interval, &subject);
		visit_subject(view, process, &subject, visit);
		if (!counting->options.by_thread)
			continue;
		for (size_t k = 0; k < process->threads.count; k++) {
			counting_thread(counting, process, k, view->span.is_interval, &subject);
			visit_subject(view, process, &subject, visit);
		}
		if (counting_rest(counting, process, view->span.is_interval, &subject))
			visit_subject(view, process, &subject, visit);
	}
	stat_visit_devices(view, visit);
}

void stat_visit_devices(const struct stat_view *view, stat_visitor *visit)
{
	size_t count = 0;
	CLEANUP(free)
	struct watched_counter *rows =
		view->devices ? counter_watch_copy(view->devices, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		const struct counter_total *total =
			view->span.is_interval ? &rows[i].interval : &rows[i].all;
		struct stat_count shown = { .device = rows[i].subject,
					    .is_level = rows[i].is_level,
					    .unit = rows[i].is_level ? rows[i].unit : "",
					    .status = COUNT_NOT_COUNTED };
		double rate;

		print_into(shown.name, sizeof(shown.name), "%s", rows[i].name);
		if (counter_total_rate(&rows[i], total, &rate)) {
			shown.status = COUNT_COUNTED;
			shown.share = 1;
			shown.amount = shown.is_level ? rate : total->sum;
			snprintf(shown.value, sizeof(shown.value), "%.15g", shown.amount);
			if (!shown.is_level)
				shown.metric = (struct counter_metric){ rate, "/s" };
		}
		visit(view, &shown);
	}
}

static void csv_begin(const struct stat_view *view, uint64_t duration_ns)
{
	(void)view;
	(void)duration_ns;
	fputs("scope,begin_s,end_s,pid,tid,comm,event,value,unit,status,share,metric,metric_unit,"
	      "why\n",
	      stdout);
	fflush(stdout);
}

static void csv_write(const struct stat_view *view, const struct stat_count *self)
{
	const struct counted_subject *subject = self->subject;

	print(stdout, "%s,%.9f,%.9f,", view->span.is_interval ? "interval" : "total",
	      (double)view->span.begin_ns / 1e9, (double)view->span.end_ns / 1e9);
	if (subject)
		print(stdout, "%d", subject->pid);
	fputc(',', stdout);
	if (subject && subject->tid)
		print(stdout, "%d", subject->tid);
	else if (subject && subject->is_rest)
		fputs("other", stdout);
	fputc(',', stdout);
	export_quoted(stdout, subject ? subject->name : self->device);
	fputc(',', stdout);
	export_quoted(stdout, self->name);
	print(stdout, ",%s,%s,%s,%.6f,", self->value, self->unit, count_status_name(self->status),
	      self->share);
	if (self->metric.unit)
		print(stdout, "%.6f,%s,", self->metric.value, self->metric.unit);
	else
		fputs(",,", stdout);
	export_quoted(stdout, self->reason.why);
	fputc('\n', stdout);
}

static void csv_span(const struct stat_view *view)
{
	stat_visit(view, csv_write);
	fflush(stdout);
}

const struct stat_writer stat_csv = { csv_begin, csv_span, NULL };

static void json_start(const struct stat_view *view, uint64_t duration_ns)
{
	const struct counting *counting = view->counting;
	struct json json = json_event(stdout, "counting");

	json_list(&json, "pids");
	for (size_t i = 0; i < counting->count; i++)
		json_signed(&json, NULL, counting->processes[i].pid);
	json_list_end(&json);
	if (duration_ns != UINT64_MAX)
		json_fixed(&json, "duration_s", duration_ns, 9);
	json_object_end(&json);
}

static void json_put_subject(struct json *json, const struct counted_subject *subject)
{
	json_text(json, "of",
		  subject->is_rest ? "other threads"
		  : subject->tid   ? "thread"
				   : "process");
	json_signed(json, "pid", subject->pid);
	if (subject->tid)
		json_signed(json, "tid", subject->tid);
	json_text(json, "comm", subject->is_rest ? "" : subject->name);
	json_bool(json, "ended", subject->has_ended);
}

static void json_write(const struct stat_view *view, const struct stat_count *self)
{
	struct json json = json_event(stdout, "counter");
	bool is_of_device = !self->subject;

	json_text(&json, "scope", view->span.is_interval ? "interval" : "total");
	json_fixed(&json, "begin_s", view->span.begin_ns, 9);
	json_fixed(&json, "end_s", view->span.end_ns, 9);
	if (is_of_device) {
		json_text(&json, "of", "device");
		json_text(&json, "device", self->device);
	} else {
		json_put_subject(&json, self->subject);
	}
	json_text(&json, "name", self->name);
	if (is_of_device)
		json_text(&json, "form", self->is_level ? "level" : "count");
	if (is_of_device && self->value[0])
		json_real(&json, "value", self->amount);
	else
		json_raw(&json, "value", self->value[0] ? self->value : "null");
	json_text(&json, "unit", self->unit);
	json_text(&json, "status", count_status_name(self->status));
	if (!is_of_device)
		json_rounded(&json, "share", self->share, 6);
	if (self->metric.unit) {
		if (is_of_device)
			json_real(&json, "metric", self->metric.value);
		else
			json_rounded(&json, "metric", self->metric.value, 6);
		json_text(&json, "metric_unit", self->metric.unit);
	}
	if (!is_of_device) {
		json_text(&json, "why", self->reason.why);
		json_text(&json, "fix", self->reason.fix);
	}
	json_object_end(&json);
}

static void json_span(const struct stat_view *view)
{
	stat_visit(view, json_write);
}

static void json_finish(const struct stat_view *view, const char *ending)
{
	const struct counting *counting = view->counting;

	for (size_t i = 0; i < counting->count; i++) {
		const struct counted_process *process = &counting->processes[i];
		struct json json = json_event(stdout, "counted");

		json_signed(&json, "pid", process->pid);
		json_text(&json, "comm", process->name);
		json_fixed(&json, "seconds", counting->now_ns - counting->begin_ns, 9);
		json_text(&json, "ending", ending);
		json_bool(&json, "ended", process->has_ended);
		json_bool(&json, "complete", counting_is_complete(counting, process));
		json_object_end(&json);
	}
}

const struct stat_writer stat_json = { json_start, json_span, json_finish };

/*
 * Counts for programs: one object for each of them.
 */
#include "host/core/text/json.h"
#include "host/cli/stat/writer.h"

static void json_begin(const struct stat_view *view, uint64_t duration_ns)
{
	const struct counting *counting = view->counting;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "counting");
	json_list(&json, "pids");
	for (size_t i = 0; i < counting->count; i++)
		json_signed(&json, NULL, counting->processes[i].pid);
	json_list_end(&json);
	if (duration_ns != UINT64_MAX)
		json_fixed(&json, "duration_s", duration_ns, 9);
	json_object_end(&json);
}

static void json_put_subject(struct json *json, const struct counted_subject *subject,
			     const struct stat_span *span)
{
	json_text(json, "event", "counter");
	json_text(json, "scope", span->is_interval ? "interval" : "total");
	json_fixed(json, "begin_s", span->begin_ns, 9);
	json_fixed(json, "end_s", span->end_ns, 9);
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

/* A count that is not there is null, never 0. */
static void json_put_count(struct json *json, const struct counter_event *event,
			   const struct count *count)
{
	if (count_has_value(count))
		json_number(json, "value", count->value);
	else
		json_raw(json, "value", "null");
	json_text(json, "unit", event->is_time ? "ns" : "");
	json_text(json, "status", count_status_name(count->status));
	json_rounded(json, "share", count->share, 6);
}

static void json_write_count(const struct stat_count *self, const struct stat_span *span)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_put_subject(&json, self->subject, span);
	json_text(&json, "name", self->name);
	json_put_count(&json, self->event, self->count);
	if (self->metric.unit) {
		json_rounded(&json, "metric", self->metric.value, 6);
		json_text(&json, "metric_unit", self->metric.unit);
	}
	json_text(&json, "why", self->reason.why);
	json_text(&json, "fix", self->reason.fix);
	json_object_end(&json);
}

/* Counters of a device include all processes that use it: no process is written. */
static void json_write_device(const struct stat_device_count *count, const struct stat_span *span)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "counter");
	json_text(&json, "scope", span->is_interval ? "interval" : "total");
	json_fixed(&json, "begin_s", span->begin_ns, 9);
	json_fixed(&json, "end_s", span->end_ns, 9);
	json_text(&json, "of", "device");
	json_text(&json, "device", count->device);
	json_text(&json, "name", count->name);
	json_text(&json, "form", count->is_level ? "level" : "count");
	if (count->has_value)
		json_real(&json, "value", count->value);
	else
		json_raw(&json, "value", "null");
	json_text(&json, "unit", count->unit);
	json_text(&json, "status", count->has_value ? "counted" : "not counted");
	if (count->has_value && !count->is_level) {
		json_real(&json, "metric", count->rate);
		json_text(&json, "metric_unit", "/s");
	}
	json_object_end(&json);
}

static void json_span(const struct stat_view *view, const struct stat_span *span)
{
	stat_visit(view, span, json_write_count);
	stat_visit_devices(view, span, json_write_device);
}

static void json_end(const struct stat_view *view, const char *ending)
{
	const struct counting *counting = view->counting;

	for (size_t i = 0; i < counting->count; i++) {
		const struct counted_process *process = &counting->processes[i];
		struct json json = { .out = stdout };

		json_object(&json, NULL);
		json_text(&json, "event", "counted");
		json_signed(&json, "pid", process->pid);
		json_text(&json, "comm", process->name);
		json_fixed(&json, "seconds", counting->now_ns - counting->begin_ns, 9);
		json_text(&json, "ending", ending);
		json_bool(&json, "ended", process->has_ended);
		json_bool(&json, "complete", counting_is_complete(counting, process));
		json_object_end(&json);
	}
}

const struct stat_writer stat_json = { json_begin, json_span, json_end };

/*
 * chrome: the JSON that Chrome's tracing, Perfetto and the Firefox profiler read.  Times are in
 * microseconds since the first call, with three decimals: nanoseconds are kept.
 *
 * Process-wide ranges and work of devices are on made-up threads, with numbers above all real ones:
 * in one thread, readers need events nested, and some pair the format's asynchronous events by
 * name.  An arrow leads from a call to the work that it caused.
 */

#include <errno.h>
#include <string.h>

#include "host/export/exporter.h"
#include "host/export/trace/chrome.h"
#include "host/export/trace/lanes.h"
#include "host/export/trace/work_tracks.h"
#include "host/export/values.h"
#include "host/model/windows/windows.h"

#define RANGES_TID 0x40000000 /* the kernel counts to 0x400000 */
#define WORK_TID   0x50000000

struct chrome {
	struct json json;
	struct model *model;
	struct lanes lanes;
	struct work_tracks tracks;
	struct table work_tids; /* (track, lane): thread and one */
	int32_t work_tid_count;
	uint64_t arrow_count; /* ends of arrows, and one */
	bool has_origin;
	uint64_t origin_ns;
};

static void write_name(struct json *json, const char *what, int32_t pid, int32_t tid,
		       const char *name)
{
	json_object(json, NULL);
	json_text(json, "ph", "M");
	json_text(json, "name", what);
	json_signed(json, "pid", pid);
	json_signed(json, "tid", tid);
	json_object(json, "args");
	json_text(json, "name", name);
	json_object_end(json);
	json_object_end(json);
}

static void write_names(struct json *json, const struct model *model)
{
	for (uint32_t i = 0; i < model->process_count; i++)
		write_name(json, "process_name", model->processes[i]->pid, model->processes[i]->pid,
			   model->processes[i]->name);
	for (uint32_t i = 0; i < model->thread_count; i++)
		write_name(json, "thread_name", model->threads[i]->process->pid,
			   model->threads[i]->tid, model->threads[i]->name);
}

/* The thread that a process-wide range is shown on. */
static int find_tid(struct chrome *chrome, const struct call *call, int32_t *ret)
{
	char name[32];
	bool is_new;
	uint32_t lane;
	int r = lanes_assign(&chrome->lanes, lanes_owner(&chrome->lanes, call), call, &lane,
			     &is_new);

	if (r)
		return r;
	*ret = (int32_t)(RANGES_TID + lane);
	snprintf(name, sizeof(name), "ranges %u", lane + 1);
	if (is_new)
		write_name(&chrome->json, "thread_name", call->process->pid, *ret, name);
	return 0;
}

/* The thread that stands for a track of devices; overlapping work needs several. */
static int find_work_tid(struct chrome *chrome, const struct call *call, int32_t *ret)
{
	char name[WORK_TRACK_NAME + 32];
	struct table_entry *entry;
	uint32_t track, lane;
	bool is_new;
	int r = work_tracks_find(&chrome->tracks, call, &track, &is_new);

	if (!r)
		r = lanes_assign(&chrome->lanes, lanes_track_owner(&chrome->lanes, track), call,
				 &lane, &is_new);
	entry = r ? NULL : table_make(&chrome->work_tids, track, lane, &is_new);
	if (!entry)
		return r ? r : -ENOMEM;
	if (is_new)
		entry->value = (uint64_t)++chrome->work_tid_count;
	*ret = WORK_TID + (int32_t)entry->value - 1;
	snprintf(name, sizeof(name), "%s", chrome->tracks.items[track].name);
	if (lane)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " overlapping %u", lane);
	if (is_new)
		write_name(&chrome->json, "thread_name", call->process->pid, *ret, name);
	return 0;
}

static void write_arrow_end(struct chrome *chrome, const struct call *call, const char *phase,
			    int32_t tid, uint64_t time_ns)
{
	struct json *json = &chrome->json;

	json_object(json, NULL);
	json_text(json, "ph", phase);
	json_text(json, "name", "work");
	json_text(json, "cat", domain_name(call->function->domain));
	json_number(json, "id", ++chrome->arrow_count / 2);
	json_signed(json, "pid", call->process->pid);
	json_signed(json, "tid", tid);
	json_fixed(json, "ts", time_ns - MIN(chrome->origin_ns, time_ns), 3);
	if (phase[0] == 'f')
		json_text(json, "bp", "e");
	json_object_end(json);
}

/* From the beginning of the call that caused it. */
static void write_arrow(struct chrome *chrome, const struct call *call, int32_t tid)
{
	uint64_t cause, thread;

	if (!call_value(call, VALUE_CAUSE, &cause) || !cause ||
	    !call_value(call, VALUE_THREAD, &thread))
		return;
	write_arrow_end(chrome, call, "s", (int32_t)thread, model_time_ns(chrome->model, cause));
	write_arrow_end(chrome, call, "f", tid, call->begin_ns);
}

static int write_call(const struct call *call, void *context)
{
	struct chrome *chrome = context;
	struct json *json = &chrome->json;
	int32_t tid = call->thread->tid;
	int r = 0;

	if (call_is_work(call))
		r = find_work_tid(chrome, call, &tid);
	else if (call->is_process_wide)
		r = find_tid(chrome, call, &tid);
	if (r)
		return r;
	if (!chrome->has_origin)
		chrome->origin_ns = call->begin_ns;
	chrome->has_origin = true;
	json_object(json, NULL);
	json_text(json, "ph", call->kind == CALL_MARK ? "i" : "X");
	json_text(json, "name", call_name(call));
	json_text(json, "cat", domain_name(call->function->domain));
	json_signed(json, "pid", call->process->pid);
	json_signed(json, "tid", tid);
	json_fixed(json, "ts", call->begin_ns - chrome->origin_ns, 3);
	/* A mark stands in its thread. */
	if (call->kind == CALL_MARK)
		json_text(json, "s", "t");
	else
		json_fixed(json, "dur", call->end_ns - call->begin_ns, 3);
	json_object(json, "args");
	json_text(json, "function", call->function->name);
	if (call->function->library[0])
		json_text(json, "library", call->function->library);
	values_write(json, call);
	json_object_end(json);
	json_object_end(json);
	if (call_is_work(call))
		write_arrow(chrome, call, tid);
	return export_state(json->out);
}

static int write_point(const struct model_metric *metric, uint64_t time_ns, double value,
		       void *context)
{
	struct chrome *chrome = context;
	struct json *json = &chrome->json;
	const char *unit = metric_rate_unit(metric);
	char title[256];

	if (!chrome->has_origin)
		chrome->origin_ns = chrome->model->windows.first_ns;
	chrome->has_origin = true;
	metric_title(chrome->model, metric, title, sizeof(title));
	json_object(json, NULL);
	json_text(json, "ph", "C");
	json_text(json, "name", title);
	json_text(json, "cat", "counter");
	json_signed(json, "pid", metric->process ? metric->process->pid : 0);
	json_fixed(json, "ts", time_ns - MIN(chrome->origin_ns, time_ns), 3);
	json_object(json, "args");
	json_real(json, unit[0] ? unit : "value", value);
	json_object_end(json);
	json_object_end(json);
	return export_state(json->out);
}

/* The events of one recording, into a list that is open. */
static int chrome_write_events(struct chrome *chrome)
{
	struct model *model = chrome->model;
	int r = lanes_init(&chrome->lanes, model, NULL, NULL);

	if (!r)
		r = work_tracks_init(&chrome->tracks, model, AGENT_RELATIVE,
				     /* is_by_stream */ false);
	if (!r)
		write_names(&chrome->json, model);
	if (!r)
		r = model_each_call(model, write_call, chrome);
	if (!r)
		r = model_each_point(model, write_point, chrome);
	lanes_done(&chrome->lanes);
	work_tracks_done(&chrome->tracks);
	table_done(&chrome->work_tids);
	return r;
}

static void chrome_begin(struct json *json)
{
	json_object(json, NULL);
	json_text(json, "displayTimeUnit", "ns");
	json_list(json, "traceEvents");
}

static int chrome_write(struct model *model, FILE *out)
{
	struct chrome chrome = { .json = { .out = out }, .model = model, .arrow_count = 1 };
	struct json *json = &chrome.json;
	int r;

	chrome_begin(json);
	r = chrome_write_events(&chrome);
	json_list_end(json);
	json_object(json, "otherData");
	json_number(json, "origin_boottime_ns", chrome.origin_ns);
	totals_write(json, model);
	json_object_end(json);
	json_object_end(json);
	return r;
}

void chrome_ranks_begin(struct chrome_ranks *ret, FILE *out, uint64_t origin_ns)
{
	*ret = (struct chrome_ranks){ .json = { .out = out }, .origin_ns = origin_ns, .arrows = 1 };
	chrome_begin(&ret->json);
}

int chrome_ranks_add(struct chrome_ranks *ranks, struct model *model)
{
	struct chrome chrome = { .json = ranks->json,
				 .model = model,
				 .arrow_count = ranks->arrows,
				 .has_origin = true,
				 .origin_ns = ranks->origin_ns };
	int r = chrome_write_events(&chrome);

	ranks->json = chrome.json;
	ranks->arrows = chrome.arrow_count;
	return r;
}

void chrome_ranks_end(struct chrome_ranks *ranks)
{
	json_list_end(&ranks->json);
	json_object(&ranks->json, "otherData");
	json_number(&ranks->json, "origin_realtime_ns", ranks->origin_ns);
	json_object_end(&ranks->json);
	json_object_end(&ranks->json);
}

const struct exporter_format format_chrome = {
	.looks_like = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[[]{\"ph\":\"M\"*",
	.write = chrome_write,
};

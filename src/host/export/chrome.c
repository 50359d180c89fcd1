/*
 * chrome: the JSON that Chrome's tracing, Perfetto and the Firefox profiler read.  Times are in
 * microseconds since the first call, with three decimals: nanoseconds are kept.
 *
 * Process-wide ranges lie on threads that do not exist, with numbers above those of all that do: in
 * one thread, readers want events to lie inside each other, and the format's asynchronous events
 * are paired by name in some of them.
 */

#include "host/export/exporter.h"
#include "host/export/lanes.h"
#include "host/export/values.h"

#define RANGES_TID 0x40000000 /* the kernel counts to 0x400000 */

struct chrome {
	struct json json;
	struct lanes lanes;
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
	int r = lanes_place(&chrome->lanes, call, &lane, &is_new);

	if (r)
		return r;
	*ret = (int32_t)(RANGES_TID + lane);
	snprintf(name, sizeof(name), "ranges %u", lane + 1);
	if (is_new)
		write_name(&chrome->json, "thread_name", call->process->pid, *ret, name);
	return 0;
}

/* How long, or, for a mark, that it stands in its thread. */
static void write_extent(struct json *json, const struct call *call)
{
	if (call->kind == CALL_MARK)
		json_text(json, "s", "t");
	else
		json_fixed(json, "dur", call->end_ns - call->begin_ns, 3);
}

static int write_call(const struct call *call, void *context)
{
	struct chrome *chrome = context;
	struct json *json = &chrome->json;
	int32_t tid = call->thread->tid;
	int r = call->is_process_wide ? find_tid(chrome, call, &tid) : 0;

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
	write_extent(json, call);
	json_object(json, "args");
	json_text(json, "function", call->function->name);
	if (call->function->library[0])
		json_text(json, "library", call->function->library);
	values_write(json, call);
	json_object_end(json);
	json_object_end(json);
	return export_state(json->out);
}

static int chrome_write(struct model *model, FILE *out)
{
	struct chrome chrome = { .json = { .out = out } };
	struct json *json = &chrome.json;
	int r = lanes_init(&chrome.lanes, model, NULL, NULL);

	if (r)
		return r;
	json_object(json, NULL);
	json_text(json, "displayTimeUnit", "ns");
	json_list(json, "traceEvents");
	write_names(json, model);
	r = model_each_call(model, write_call, &chrome);
	json_list_end(json);
	json_object(json, "otherData");
	json_number(json, "origin_boottime_ns", chrome.origin_ns);
	totals_write(json, model);
	json_object_end(json);
	json_object_end(json);
	lanes_done(&chrome.lanes);
	return r;
}

static const char *const extensions[] = { ".chrome.json", ".trace.json", ".trace", NULL };

const struct exporter exporter_chrome = {
	.name = "chrome",
	.summary = "JSON for chrome://tracing, Perfetto, Firefox profiler",
	.extensions = extensions,
	.write = chrome_write,
};

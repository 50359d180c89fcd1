/*
 * chrome: the JSON that Chrome's tracing, Perfetto and the Firefox profiler read.  Times are in
 * microseconds since the first call, with three decimals: nanoseconds are kept.
 */

#include "host/export/exporter.h"
#include "host/export/values.h"

struct chrome {
	struct json json;
	bool has_origin;
	uint64_t origin_ns;
};

static void write_name(struct json *json, const char *what, const struct model_process *process,
		       const struct model_thread *thread)
{
	json_object(json, NULL);
	json_text(json, "ph", "M");
	json_text(json, "name", what);
	json_signed(json, "pid", process->pid);
	json_signed(json, "tid", thread ? thread->tid : process->pid);
	json_object(json, "args");
	json_text(json, "name", thread ? thread->name : process->name);
	json_object_end(json);
	json_object_end(json);
}

static void write_names(struct json *json, const struct model *model)
{
	for (uint32_t i = 0; i < model->process_count; i++)
		write_name(json, "process_name", model->processes[i], NULL);
	for (uint32_t i = 0; i < model->thread_count; i++)
		write_name(json, "thread_name", model->threads[i]->process, model->threads[i]);
}

/* A marker is called what it says. */
static const char *name_of(const struct call *call)
{
	return call->function->domain == DOMAIN_MARKER && call->text[0] ? call->text
									: call->function->name;
}

static int write_call(const struct call *call, void *context)
{
	struct chrome *chrome = context;
	struct json *json = &chrome->json;

	if (!chrome->has_origin)
		chrome->origin_ns = call->begin_ns;
	chrome->has_origin = true;
	json_object(json, NULL);
	json_text(json, "ph", "X");
	json_text(json, "name", name_of(call));
	json_text(json, "cat", domain_name(call->function->domain));
	json_signed(json, "pid", call->process->pid);
	json_signed(json, "tid", call->thread->tid);
	json_fixed(json, "ts", call->begin_ns - chrome->origin_ns, 3);
	json_fixed(json, "dur", call->end_ns - call->begin_ns, 3);
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
	int r;

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
	return r;
}

static const char *const extensions[] = { ".chrome.json", ".trace.json", ".trace", NULL };

const struct exporter exporter_chrome = {
	.name = "chrome",
	.summary = "JSON for chrome://tracing, Perfetto, Firefox profiler",
	.extensions = extensions,
	.write = chrome_write,
};

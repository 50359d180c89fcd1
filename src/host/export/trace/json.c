/*
 * json: everything in a recording as one object.
 */
#include "host/core/text/json.h"

#include <inttypes.h>

#include "host/export/exporter.h"
#include "host/export/values.h"
#include "host/model/windows/windows.h"

static void write_session(struct json *json, const struct model *model)
{
	json_object(json, "session");
	json_text(json, "limpet", model->limpet_version);
	json_text(json, "host", model->host);
	json_text(json, "kernel", model->kernel);
	json_text(json, "machine", model->machine);
	json_text(json, "command", model->command);
	json_text(json, "options", model->options);
	json_object_end(json);
}

static void write_clock(struct json *json, const char *key, const struct clock_point *point)
{
	json_object(json, key);
	json_number(json, "ticks", point->ticks);
	json_number(json, "boottime_ns", point->boot_ns);
	json_number(json, "monotonic_ns", point->monotonic_ns);
	json_number(json, "monotonic_raw_ns", point->raw_ns);
	json_number(json, "realtime_ns", point->real_ns);
	json_object_end(json);
}

static void write_module(struct json *json, const struct recorded_module *module)
{
	char text[BUILD_ID_TEXT_MAX];

	json_object(json, NULL);
	json_text(json, "path", module->path);
	json_text(json, "build_id", build_id_text(module->build_id, module->build_id_size, text));
	json_number(json, "base", module->base);
	json_number(json, "size", module->size);
	json_number(json, "offset", module->offset);
	json_object_end(json);
}

/* Of numbers in calls; kernels have theirs beside each. */
static void write_queues(struct json *json, const struct names *names)
{
	json_list(json, "queues");
	for (size_t i = 0; i < names->room; i++) {
		const struct name_entry *named = &names->items[i];

		if (!named->text || named->space != NAME_QUEUE)
			continue;
		json_object(json, NULL);
		json_number(json, "number", named->id);
		json_text(json, "name", named->text);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_process(struct json *json, const struct model_process *process)
{
	json_object(json, NULL);
	json_signed(json, "pid", process->pid);
	json_text(json, "name", process->name);
	json_text(json, "executable", process->executable);
	json_text(json, "command", process->command);
	json_number(json, "start_ns", process->start_ns);
	json_list(json, "modules");
	for (uint32_t i = 0; i < process->module_count; i++)
		write_module(json, &process->modules[i]);
	json_list_end(json);
	write_queues(json, &process->names);
	json_object_end(json);
}

static void write_thread(struct json *json, const struct model_thread *thread)
{
	json_object(json, NULL);
	json_number(json, "process", thread->process->number);
	json_signed(json, "tid", thread->tid);
	json_text(json, "name", thread->name);
	json_number(json, "calls", thread->calls);
	json_object(json, "dropped");
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		json_number(json, drop_reason_name(reason), thread->drops[reason]);
	json_object_end(json);
	json_object_end(json);
}

static void write_functions(struct json *json, const struct model_process *process)
{
	for (uint32_t i = 0; i < process->function_count; i++) {
		const struct trace_function *function = &process->functions[i];

		json_object(json, NULL);
		json_number(json, "process", process->number);
		json_text(json, "domain", domain_name(function->domain));
		json_text(json, "name", function->name);
		json_text(json, "library", function->library);
		json_object_end(json);
	}
}

static int write_call(const struct call *call, void *context)
{
	struct json *json = context;

	json_object(json, NULL);
	if (call->kind != CALL_PLAIN)
		json_text(json, "kind", call_kind_name(call->kind));
	if (call_is_work(call))
		json_text(json, "title", call_name(call));
	if (domain_is_in(DOMAINS_GPU, call->function->domain))
		json_number(json, "correlation", call_correlation(call));
	json_number(json, "thread", call->thread->number);
	json_number(json, "function", call->function_number);
	json_number(json, "begin_ns", call->begin_ns);
	json_number(json, "duration_ns", call->end_ns - call->begin_ns);
	values_write(json, call);
	json_object_end(json);
	return export_state(json->out);
}

static void write_metric(struct json *json, const struct model_metric *metric)
{
	json_object(json, NULL);
	json_text(json, "name", metric->name);
	json_text(json, "source", metric->source);
	json_text(json, "form", metric_form_name(metric->form));
	json_text(json, "unit", metric->unit);
	json_text(json, "subject", metric->subject);
	json_text(json, "description", metric->description);
	if (metric->process)
		json_number(json, "process", metric->process->number);
	if (metric->device != METRIC_NO_DEVICE)
		json_number(json, "device", metric->device);
	json_object_end(json);
}

static int write_window(const struct window *window, void *context)
{
	struct json *json = context;

	json_object(json, NULL);
	json_number(json, "metric", window->metric->number);
	json_number(json, "begin_ns", window->begin_ns);
	json_number(json, "duration_ns", window->end_ns - window->begin_ns);
	if (window->has_value)
		json_real(json, "value", window->value);
	else
		json_raw(json, "value", "null");
	if (window->is_estimated)
		json_bool(json, "scaled", true);
	json_object_end(json);
	return export_state(json->out);
}

static int write_windows(struct json *json, struct model *model)
{
	int r;

	json_list(json, "metrics");
	for (size_t i = 0; i < model->windows.metric_count; i++)
		write_metric(json, &model->windows.metrics[i]);
	json_list_end(json);
	json_list(json, "windows");
	r = model_each_window(model, write_window, json);
	json_list_end(json);
	return r;
}

static void write_lists(struct json *json, const struct model *model)
{
	json_list(json, "processes");
	for (uint32_t i = 0; i < model->process_count; i++)
		write_process(json, model->processes[i]);
	json_list_end(json);
	json_list(json, "threads");
	for (uint32_t i = 0; i < model->thread_count; i++)
		write_thread(json, model->threads[i]);
	json_list_end(json);
	json_list(json, "functions");
	for (uint32_t i = 0; i < model->process_count; i++)
		write_functions(json, model->processes[i]);
	json_list_end(json);
}

static int json_write(struct model *model, FILE *out)
{
	struct json json = { .out = out };
	int r;

	json_object(&json, NULL);
	json_text(&json, "format", "limpet");
	json_number(&json, "version", 1);
	write_session(&json, model);
	json_object(&json, "clocks");
	write_clock(&json, "start", &model->first);
	write_clock(&json, "end", &model->last);
	json_object_end(&json);
	write_lists(&json, model);
	json_list(&json, "calls");
	r = model_each_call(model, write_call, &json);
	json_list_end(&json);
	if (!r)
		r = write_windows(&json, model);
	json_object(&json, "totals");
	totals_write(&json, model);
	json_object_end(&json);
	json_object_end(&json);
	return r;
}

const struct exporter_format format_json = {
	.looks_like = "{\"format\":\"limpet\"*",
	.write = json_write,
};

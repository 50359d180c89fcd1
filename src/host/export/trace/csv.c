/*
 * csv: one line for each call, range and mark, and one for each window of a counter, RFC 4180,
 * UTF-8. Empty where a function has no such value.
 */
#include <inttypes.h>
#include <string.h>

#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/values.h"
#include "host/model/windows/windows.h"

static const enum value_kind columns[] = {
	VALUE_RESULT,     VALUE_SIZE,   VALUE_ADDRESS, VALUE_OLD_ADDRESS,
	VALUE_DESCRIPTOR, VALUE_OBJECT, VALUE_OWNER,   VALUE_ID,
};

/* Of devices' work, after all others. */
static const enum value_kind work_columns[] = {
	VALUE_DEVICE,   VALUE_FROM_DEVICE, VALUE_QUEUE,       VALUE_STREAM, VALUE_THREAD,
	VALUE_DISPATCH, VALUE_GRID_X,      VALUE_GRID_Y,      VALUE_GRID_Z, VALUE_GROUP_X,
	VALUE_GROUP_Y,  VALUE_GROUP_Z,     VALUE_LOCAL_BYTES, VALUE_FLAGS,  VALUE_SCRATCH_BYTES,
};

static void write_text(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+./: ;";

	fputc(',', out);
	if (text[strspn(text, plain)] || *text == '-' || *text == '+')
		export_quoted(out, text);
	else
		print(out, "%s", text);
}

static void write_values(FILE *out, const struct call *call, const enum value_kind *kinds,
			 size_t count)
{
	char text[VALUE_TEXT_MAX];
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		fputc(',', out);
		if (call_value(call, kinds[i], &value))
			print(out, "%s", value_text(kinds[i], value, text));
	}
}

static int write_call(const struct call *call, void *context)
{
	FILE *out = context;
	char stack[EXPORT_STACK_MAX];
	double blocks, bytes;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%d", call->begin_ns, call->end_ns - call->begin_ns,
		call->process->pid);
	write_text(out, call->process->name);
	fprintf(out, ",%d", call->thread->tid);
	write_text(out, call->thread->name);
	write_text(out, domain_name(call->function->domain));
	write_text(out, call->function->library);
	write_text(out, call->function->name);
	write_values(out, call, columns, ARRAY_SIZE(columns));
	write_text(out, call->text);
	export_stack(call, stack, sizeof(stack));
	write_text(out, stack);
	write_text(out, call_kind_name(call->kind));
	write_text(out, call_cut_text(call));
	fputc(',', out);
	if (call_estimate(call, &blocks, &bytes))
		fprintf(out, "%.3f", bytes);
	write_text(out, call_name(call));
	fprintf(out, ",%" PRIu64, call_correlation(call));
	write_values(out, call, work_columns, ARRAY_SIZE(work_columns));
	fputs(",,\r\n", out);
	return export_state(out);
}

static void write_empty(FILE *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fputc(',', out);
}

struct window_rows {
	const struct model *model;
	FILE *out;
};

/* Of the machine it is of no process. */
static int write_window(const struct window *window, void *context)
{
	const struct window_rows *rows = context;
	const struct model_metric *metric = window->metric;
	FILE *out = rows->out;
	char title[256];

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",", window->begin_ns,
		window->end_ns - window->begin_ns);
	if (metric->process)
		fprintf(out, "%d", metric->process->pid);
	write_text(out, metric->process ? metric->process->name : "");
	write_empty(out, 1);
	write_text(out, metric->subject);
	write_text(out, "counter-window");
	write_text(out, metric->source);
	write_text(out, metric->name);
	write_empty(out, ARRAY_SIZE(columns) + 2);
	write_text(out, "window");
	write_text(out, window->is_estimated ? "scaled" : "");
	write_empty(out, 1);
	metric_title(rows->model, metric, title, sizeof(title));
	write_text(out, title);
	write_empty(out, 1 + ARRAY_SIZE(work_columns));
	fputc(',', out);
	if (window->has_value)
		fprintf(out, "%.15g", window->value);
	write_text(out, metric->unit);
	fputs("\r\n", out);
	return export_state(out);
}

static int csv_write(struct model *model, FILE *out)
{
	int r;

	fputs("begin_ns,duration_ns,pid,process,tid,thread,domain,library,function", out);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		print(out, ",%s", value_name(columns[i]));
	fputs(",text,stack,kind,unfinished,stands_for_bytes,name,correlation", out);
	for (size_t i = 0; i < ARRAY_SIZE(work_columns); i++)
		print(out, ",%s",
		      work_columns[i] == VALUE_THREAD ? "cause_tid" : value_name(work_columns[i]));
	fputs(",value,unit\r\n", out);
	r = model_each_call(model, write_call, out);
	return r ? r : model_each_window(model, write_window, &(struct window_rows){ model, out });
}

const struct exporter_format format_csv = {
	.looks_like = "begin_ns,duration_ns,pid,process,*",
	.write = csv_write,
};

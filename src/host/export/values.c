/*
 * What several formats have: the values of a call, its stack, the totals of a recording.
 */
#include "host/export/values.h"

#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "host/model/devices/launches.h"
#include "host/model/samples/stack_text.h"

#include <string.h>

void frames_write(struct json *json, const char *key, const struct call *call)
{
	struct stack_cursor cursor = { .stack = call->stack };
	const struct sample_location *location;
	char text[600], mark[STACK_MARK_MAX];

	json_list(json, key);
	while ((location = stack_next(call->model->samples, &cursor))) {
		location_print(call->model->samples, location, text, sizeof(text));
		json_text(json, NULL, text);
	}
	if (stack_mark(call->stack_end, mark)[0])
		json_text(json, NULL, mark);
	json_list_end(json);
}

static void lines_write(struct json *json, const char *key, const char *lines)
{
	struct stack_line line;
	char text[600];

	json_list(json, key);
	while (stack_line_next(&lines, &line)) {
		stack_line_print(&line, text, sizeof(text));
		json_text(json, NULL, text);
	}
	json_list_end(json);
}

void values_write(struct json *json, const struct call *call)
{
	unsigned count = MIN(call->value_count, call->function->value_count);
	char text[VALUE_TEXT_MAX];
	double blocks, bytes;

	for (unsigned i = 0; i < count; i++) {
		unsigned kind = call->function->values[i];

		value_text(kind, call->values[i], text);
		if (value_form(kind) == VALUE_POINTER)
			json_text(json, value_name(kind), text);
		else if (value_name(kind))
			json_raw(json, value_name(kind), text);
	}
	if (call_estimate(call, &blocks, &bytes))
		json_fixed(json, "stands_for_bytes", (uint64_t)(bytes * 1000 + 0.5), 3);
	if (call->text[0])
		json_text(json, "text", call->text);
	if (call->cut)
		json_text(json, "unfinished", call_cut_text(call));
	if (call->has_stack)
		frames_write(json, "stack", call);
	else if (call_stack_lines(call)[0])
		lines_write(json, "stack", call_stack_lines(call));
}

void totals_write(struct json *json, const struct model *model)
{
	char text[256];

	json_number(json, "calls", model->calls);
	json_number(json, "records", model->records);
	json_object(json, "dropped");
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		json_number(json, drop_reason_name(reason), model->drops[reason]);
	json_object_end(json);
	model_describe_end(model, text, sizeof(text));
	json_bool(json, "complete", text[0] == '\0');
	json_text(json, "incomplete", text);
}

void export_stack(const struct call *call, char *ret, size_t room)
{
	struct stack_cursor cursor = { .stack = call->stack };
	const struct sample_location *location;
	char mark[STACK_MARK_MAX];
	size_t length = 0;

	stack_lines_print(call_stack_lines(call), ret, room);
	while (length + 1 < room && (location = stack_next(call->model->samples, &cursor))) {
		if (length)
			ret[length++] = ';';
		location_print(call->model->samples, location, ret + length, room - length);
		length += strlen(ret + length);
	}
	if (call->has_stack && call->stack_end != STACK_COMPLETE && length + 1 < room)
		print_into(ret + length, room - length, "%s%s", length ? ";" : "",
			   stack_mark(call->stack_end, mark));
}

void export_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	foreign_write(out, FOREIGN_CSV, text);
	fputc('"', out);
}

/*
 * The values of a call that both JSON formats have.
 */
#include "host/export/values.h"

#include "host/model/devices/launches.h"
#include "host/model/samples/stack_text.h"

#include <inttypes.h>

static void write_value(struct json *json, unsigned kind, uint64_t value)
{
	char text[32];

	switch (kind) {
	case VALUE_ADDRESS:
	case VALUE_OLD_ADDRESS:
	case VALUE_OBJECT:
		snprintf(text, sizeof(text), "0x%" PRIx64, value);
		json_text(json, value_name(kind), text);
		break;
	case VALUE_RESULT:
	case VALUE_DESCRIPTOR:
		json_signed(json, value_name(kind), (int64_t)value);
		break;
	default:
		if (value_name(kind))
			json_number(json, value_name(kind), value);
	}
}

void frames_write(struct json *json, const char *key, const struct call *call)
{
	struct stack_cursor cursor = { .stack = call->stack };
	const struct sample_location *location;
	char text[600], mark[STACK_MARK_MAX];

	json_list(json, key);
	while ((location = stack_next(call->samples, &cursor))) {
		location_print(call->samples, location, text, sizeof(text));
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
	double blocks, bytes;

	for (unsigned i = 0; i < count; i++)
		write_value(json, call->function->values[i], call->values[i]);
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

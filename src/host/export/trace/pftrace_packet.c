/*
 * Packets, and calls as Perfetto's debug annotations.
 */
#include "host/export/trace/pftrace_parts.h"

#include "host/export/exporter.h"
#include "host/export/proto.h"
#include "host/export/values.h"

#include <errno.h>

enum trace_field { TRACE_PACKET = 1 };
enum event_field { EVENT_ANNOTATION = 4 };
enum annotation_field {
	ANNOTATION_NAME_ID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
};

int packet_write(struct bytes *trace, struct bytes *packet, enum packet_sequence sequence,
		 FILE *out)
{
	proto_number(packet, PACKET_SEQUENCE, sequence);
	proto_message(trace, TRACE_PACKET, packet);
	if (trace->has_failed)
		return -ENOMEM;
	fwrite(trace->data, 1, trace->size, out);
	trace->size = 0;
	return export_state(out);
}

static const enum annotation_field value_fields[] = { [VALUE_UNSIGNED] = ANNOTATION_UINT,
						      [VALUE_SIGNED] = ANNOTATION_INT,
						      [VALUE_POINTER] = ANNOTATION_POINTER };

void annotation_put(struct bytes *event, struct bytes *room, enum annotation_name name,
		    const char *text)
{
	proto_number(room, ANNOTATION_NAME_ID, name);
	proto_text(room, ANNOTATION_TEXT, text);
	proto_message(event, EVENT_ANNOTATION, room);
}

static void number_put(struct bytes *event, struct bytes *room, unsigned name,
		       enum annotation_field field, uint64_t value)
{
	proto_number(room, ANNOTATION_NAME_ID, name);
	proto_number(room, field, value);
	proto_message(event, EVENT_ANNOTATION, room);
}

void annotations_put(struct bytes *event, struct bytes *room, const struct call *call)
{
	unsigned count = MIN(call->value_count, call->function->value_count);
	char stack[EXPORT_STACK_MAX];
	double blocks, bytes;

	for (unsigned i = 0; i < count; i++) {
		unsigned kind = call->function->values[i];

		if (kind != VALUE_NONE && kind < VALUE_KINDS)
			number_put(event, room, kind, value_fields[value_form(kind)],
				   call->values[i]);
	}
	if (call_estimate(call, &blocks, &bytes))
		number_put(event, room, NAME_STANDS_FOR, ANNOTATION_UINT, (uint64_t)(bytes + 0.5));
	if (call->text[0] && call->kind == CALL_PLAIN)
		annotation_put(event, room, NAME_TEXT, call->text);
	if (call->function->library[0])
		annotation_put(event, room, NAME_LIBRARY, call->function->library);
	export_stack(call, stack, sizeof(stack));
	if (stack[0])
		annotation_put(event, room, NAME_STACK, stack);
}

/*
 * pftrace: Perfetto's trace format (ui.perfetto.dev, trace_processor).  Times are CLOCK_BOOTTIME,
 * which is Perfetto's own.  Calls of a thread are slices on its track; one that overlaps another
 * without lying inside it goes to a further track of the same thread.  Process-wide ranges have
 * tracks under the process.
 */
#include <errno.h>

#include "host/export/exporter.h"
#include "host/export/lanes.h"
#include "host/export/proto.h"

#define SEQUENCE 1u

/* Field numbers of perfetto_trace.proto. */
enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK = 60,
};
enum packet_flag { FLAG_CLEARED = 1, FLAG_NEEDS_INTERNED = 2 };
enum clocks_field { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum builtin_clock { REALTIME = 1, MONOTONIC = 3, MONOTONIC_RAW = 5, BOOTTIME = 6 };
enum system_field { SYSTEM_UTSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };
enum interned_field { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_ANNOTATIONS = 3 };
enum interned_entry { ENTRY_ID = 1, ENTRY_NAME = 2 };
enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
};
enum process_field { PROCESS_PID = 1, PROCESS_COMMAND = 2, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum event_field {
	EVENT_CATEGORY_ID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
};
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum annotation_field {
	ANNOTATION_NAME_ID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
};
/* Names of annotations that are no values. */
enum {
	NAME_TEXT = VALUE_KINDS,
	NAME_STACK,
	NAME_FUNCTION,
	NAME_LIBRARY,
	NAME_UNFINISHED,
	NAME_STANDS_FOR,
	NAMES
};

struct pftrace {
	FILE *out;
	struct bytes trace, packet, inner, detail; /* each holds the next */
	struct lanes lanes;
};

static uint64_t process_track(const struct model_process *process)
{
	return 1 + process->number;
}

static uint64_t lane_track(uint32_t owner, uint32_t lane)
{
	return (uint64_t)(lane + 1) << 32 | (owner + 1);
}

static int packet_end(struct pftrace *self)
{
	proto_number(&self->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_message(&self->trace, TRACE_PACKET, &self->packet);
	if (self->trace.has_failed)
		return -ENOMEM;
	fwrite(self->trace.data, 1, self->trace.size, self->out);
	self->trace.size = 0;
	return export_state(self->out);
}

static void put_clock(struct pftrace *self, enum builtin_clock clock, uint64_t time_ns)
{
	proto_number(&self->detail, CLOCK_ID, clock);
	proto_number(&self->detail, CLOCK_TIMESTAMP, time_ns);
	proto_message(&self->inner, CLOCKS_CLOCK, &self->detail);
}

static int write_clocks(struct pftrace *self, const struct clock_point *point)
{
	put_clock(self, BOOTTIME, point->boot_ns);
	put_clock(self, MONOTONIC, point->monotonic_ns);
	put_clock(self, MONOTONIC_RAW, point->raw_ns);
	put_clock(self, REALTIME, point->real_ns);
	proto_number(&self->inner, CLOCKS_PRIMARY, BOOTTIME);
	proto_message(&self->packet, PACKET_CLOCKS, &self->inner);
	proto_number(&self->packet, PACKET_TIMESTAMP, point->boot_ns);
	return packet_end(self);
}

static int write_system(struct pftrace *self, const struct model *model)
{
	proto_text(&self->detail, UTSNAME_RELEASE, model->kernel);
	proto_text(&self->detail, UTSNAME_MACHINE, model->machine);
	proto_message(&self->inner, SYSTEM_UTSNAME, &self->detail);
	proto_message(&self->packet, PACKET_SYSTEM_INFO, &self->inner);
	return packet_end(self);
}

static void intern(struct pftrace *self, enum interned_field list, uint64_t id, const char *name)
{
	proto_number(&self->detail, ENTRY_ID, id);
	proto_text(&self->detail, ENTRY_NAME, name);
	proto_message(&self->inner, list, &self->detail);
}

/* Names that come again and again, once; ids begin at 1. */
static int write_names(struct pftrace *self, const struct model *model)
{
	static const char *const others[] = { "text",    "stack",      "function",
					      "library", "unfinished", "stands_for_bytes" };

	for (unsigned domain = 0; domain < DOMAINS; domain++)
		intern(self, INTERNED_CATEGORIES, domain + 1, domain_name(domain));
	for (unsigned kind = 1; kind < VALUE_KINDS; kind++)
		intern(self, INTERNED_ANNOTATIONS, kind, value_name(kind));
	for (unsigned name = NAME_TEXT; name < NAMES; name++)
		intern(self, INTERNED_ANNOTATIONS, name, others[name - NAME_TEXT]);
	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		for (uint32_t function = 0; function < process->function_count; function++)
			intern(self, INTERNED_NAMES, process->first_function + function + 1,
			       process->functions[function].name);
	}
	proto_number(&self->packet, PACKET_FLAGS, FLAG_CLEARED);
	proto_message(&self->packet, PACKET_INTERNED, &self->inner);
	return packet_end(self);
}

static int write_process(struct pftrace *self, const struct model_process *process)
{
	proto_number(&self->detail, PROCESS_PID, (uint64_t)process->pid);
	proto_text(&self->detail, PROCESS_COMMAND, process->command);
	proto_text(&self->detail, PROCESS_NAME, process->name);
	proto_number(&self->inner, TRACK_UUID, process_track(process));
	proto_message(&self->inner, TRACK_PROCESS, &self->detail);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

static int write_thread(struct pftrace *self, const struct model_thread *thread)
{
	proto_number(&self->detail, THREAD_PID, (uint64_t)thread->process->pid);
	proto_number(&self->detail, THREAD_TID, (uint64_t)thread->tid);
	proto_text(&self->detail, THREAD_NAME, thread->name);
	proto_number(&self->inner, TRACK_UUID, lane_track(thread->number, 0));
	proto_number(&self->inner, TRACK_PARENT, process_track(thread->process));
	proto_message(&self->inner, TRACK_THREAD, &self->detail);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

/* A further track of a thread, or one for ranges of a process. */
static int write_lane(struct pftrace *self, const struct call *call, uint32_t lane)
{
	uint32_t owner = lanes_owner(&self->lanes, call);
	char name[64];

	snprintf(name, sizeof(name), call->is_process_wide ? "ranges %u" : "overlapping %u",
		 lane + call->is_process_wide);
	proto_number(&self->inner, TRACK_UUID, lane_track(owner, lane));
	proto_number(&self->inner, TRACK_PARENT,
		     call->is_process_wide ? process_track(call->process) : lane_track(owner, 0));
	proto_text(&self->inner, TRACK_NAME, name);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

static void begin_event(struct pftrace *self, uint64_t time_ns, enum event_type type,
			uint64_t track)
{
	proto_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	proto_number(&self->packet, PACKET_FLAGS, FLAG_NEEDS_INTERNED);
	proto_number(&self->inner, EVENT_TYPE, type);
	proto_number(&self->inner, EVENT_TRACK, track);
}

static int end_event(struct pftrace *self)
{
	proto_message(&self->packet, PACKET_EVENT, &self->inner);
	return packet_end(self);
}

static int write_slice_end(void *context, uint32_t owner, uint32_t lane, uint64_t end_ns)
{
	struct pftrace *self = context;

	begin_event(self, end_ns, SLICE_END, lane_track(owner, lane));
	return end_event(self);
}

static void annotate_text(struct pftrace *self, unsigned name, const char *text)
{
	proto_number(&self->detail, ANNOTATION_NAME_ID, name);
	proto_text(&self->detail, ANNOTATION_TEXT, text);
	proto_message(&self->inner, EVENT_ANNOTATION, &self->detail);
}

static void annotate_number(struct pftrace *self, unsigned name, uint64_t value)
{
	proto_number(&self->detail, ANNOTATION_NAME_ID, name);
	proto_number(&self->detail, ANNOTATION_UINT, value);
	proto_message(&self->inner, EVENT_ANNOTATION, &self->detail);
}

static void annotate_value(struct pftrace *self, unsigned kind, uint64_t value)
{
	enum annotation_field field = ANNOTATION_UINT;

	if (kind == VALUE_NONE || kind >= VALUE_KINDS)
		return;
	if (kind == VALUE_RESULT || kind == VALUE_DESCRIPTOR)
		field = ANNOTATION_INT;
	if (kind == VALUE_ADDRESS || kind == VALUE_OLD_ADDRESS || kind == VALUE_OBJECT)
		field = ANNOTATION_POINTER;
	proto_number(&self->detail, ANNOTATION_NAME_ID, kind);
	proto_number(&self->detail, field, value);
	proto_message(&self->inner, EVENT_ANNOTATION, &self->detail);
}

static void annotate(struct pftrace *self, const struct call *call)
{
	unsigned count = MIN(call->value_count, call->function->value_count);
	char stack[RECORD_FRAMES_MAX * 64];
	double blocks, bytes;

	for (unsigned i = 0; i < count; i++)
		annotate_value(self, call->function->values[i], call->values[i]);
	if (call_estimate(call, &blocks, &bytes))
		annotate_number(self, NAME_STANDS_FOR, (uint64_t)(bytes + 0.5));
	if (call->text[0] && call->kind == CALL_PLAIN)
		annotate_text(self, NAME_TEXT, call->text);
	if (call->function->library[0])
		annotate_text(self, NAME_LIBRARY, call->function->library);
	if (!call->frame_count)
		return;
	export_stack(call, stack, sizeof(stack));
	annotate_text(self, NAME_STACK, stack);
}

static void name_slice(struct pftrace *self, const struct call *call)
{
	proto_number(&self->inner, EVENT_CATEGORY_ID, call->function->domain + 1u);
	if (call->kind == CALL_PLAIN) {
		proto_number(&self->inner, EVENT_NAME_ID, call->function_number + 1u);
		return;
	}
	proto_text(&self->inner, EVENT_NAME, call_name(call));
	annotate_text(self, NAME_FUNCTION, call->function->name);
	if (call->cut)
		annotate_text(self, NAME_UNFINISHED, call_cut_text(call));
}

static int write_mark(struct pftrace *self, const struct call *call)
{
	int r = lanes_pass(&self->lanes, call);

	if (r)
		return r;
	begin_event(self, call->begin_ns, INSTANT, lane_track(call->thread->number, 0));
	name_slice(self, call);
	annotate(self, call);
	return end_event(self);
}

static int write_call(const struct call *call, void *context)
{
	struct pftrace *self = context;
	bool is_new;
	uint32_t lane;
	int r;

	if (call->kind == CALL_MARK)
		return write_mark(self, call);
	r = lanes_place(&self->lanes, call, &lane, &is_new);
	if (!r && is_new && (lane || call->is_process_wide))
		r = write_lane(self, call, lane);
	if (r)
		return r;
	begin_event(self, call->begin_ns, SLICE_BEGIN,
		    lane_track(lanes_owner(&self->lanes, call), lane));
	name_slice(self, call);
	annotate(self, call);
	return end_event(self);
}

static int write_trace(struct pftrace *self, struct model *model)
{
	int r = write_names(self, model);

	if (!r)
		r = write_clocks(self, &model->first);
	if (!r)
		r = write_system(self, model);
	for (uint32_t i = 0; !r && i < model->process_count; i++)
		r = write_process(self, model->processes[i]);
	for (uint32_t i = 0; !r && i < model->thread_count; i++)
		r = write_thread(self, model->threads[i]);
	if (!r)
		r = model_each_call(model, write_call, self);
	if (!r)
		r = lanes_finish(&self->lanes);
	return r ? r : write_clocks(self, &model->last);
}

static int pftrace_write(struct model *model, FILE *out)
{
	struct pftrace self = { .out = out };
	int r = lanes_init(&self.lanes, model, write_slice_end, &self);

	if (!r)
		r = write_trace(&self, model);
	lanes_done(&self.lanes);
	bytes_done(&self.trace);
	bytes_done(&self.packet);
	bytes_done(&self.inner);
	bytes_done(&self.detail);
	return r;
}

static const char *const extensions[] = { ".pftrace", ".perfetto-trace", NULL };

const struct exporter exporter_pftrace = {
	.name = "pftrace",
	.summary = "for ui.perfetto.dev",
	.extensions = extensions,
	.write = pftrace_write,
};

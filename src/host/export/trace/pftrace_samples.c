/*
 * Samples of Perfetto (PerfSample), and counters over time, each on a separate sequence of packets.
 * Modules, functions and frames are written first, a stack with its first sample.
 */
#include "host/export/trace/pftrace_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/text/print.h"
#include "host/export/proto.h"
#include "host/model/samples/profile.h"
#include "host/model/windows/windows.h"

#define PACKET_ENOUGH (1u << 20) /* bytes of names in one packet */

/* Field numbers of perfetto_trace.proto. */
enum {
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_STACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_MAPPINGS = 19,
};
enum { TEXT_ID = 1, TEXT_BYTES = 2 };
enum { MAPPING_ID = 1, MAPPING_BUILD_ID = 2, MAPPING_END = 5, MAPPING_PATH = 7 };
enum { FRAME_ID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_ADDRESS = 4, FRAME_LINE = 6 };
enum { STACK_ID = 1, STACK_FRAME = 2 };
enum {
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_ERROR = 16
};
enum { MODE_KERNEL = 1, MODE_USER = 2 };

/* Perfetto's error codes. */
static const unsigned unwind_errors[STACK_ENDS] = {
	[STACK_CUT] = 6,        [STACK_NO_MAP] = 5,   [STACK_NO_TABLE] = 3,  [STACK_NO_RULE] = 4,
	[STACK_UNREADABLE] = 2, [STACK_CIRCULAR] = 7, [STACK_GENERATED] = 3, [STACK_ZERO] = 3,
	[STACK_SWITCHED] = 4,   [STACK_UNREAD] = 5,   [STACK_UNLINKED] = 3,  [STACK_CALLER] = 5,
	[STACK_NO_PYTHON] = 5,
};

struct writer {
	struct model *model;
	FILE *out;
	unsigned kinds;
	struct bytes trace, packet, interned, inner;
	bool *is_written; /* by stack */
	bool has_begun;
};

static void writer_done(struct writer *self)
{
	free(self->is_written);
	bytes_done(&self->trace);
	bytes_done(&self->packet);
	bytes_done(&self->interned);
	bytes_done(&self->inner);
}

static int packet_end(struct writer *self)
{
	proto_number(&self->packet, PACKET_FLAGS,
		     self->has_begun ? FLAG_NEEDS_INTERNED : FLAG_CLEARED);
	self->has_begun = true;
	return packet_write(&self->trace, &self->packet, SEQUENCE_SAMPLES, self->out);
}

static int interned_end(struct writer *self, size_t enough)
{
	if (self->interned.size < enough)
		return 0;
	proto_message(&self->packet, PACKET_INTERNED, &self->interned);
	return packet_end(self);
}

static void put_text(struct writer *self, unsigned list, uint64_t id, const char *text)
{
	proto_number(&self->inner, TEXT_ID, id);
	proto_text(&self->inner, TEXT_BYTES, text);
	proto_message(&self->interned, list, &self->inner);
}

static void put_code(struct writer *self, const struct sample_code *code, uint64_t id)
{
	char build_id[BUILD_ID_TEXT_MAX];

	build_id_text(code->build_id, code->build_id_size, build_id);
	put_text(self, INTERNED_PATHS, id, code->path);
	put_text(self, INTERNED_BUILD_IDS, id, build_id);
	proto_number(&self->inner, MAPPING_ID, id);
	proto_number(&self->inner, MAPPING_BUILD_ID, id);
	proto_number(&self->inner, MAPPING_END, INT64_MAX);
	proto_number(&self->inner, MAPPING_PATH, id);
	proto_message(&self->interned, INTERNED_MAPPINGS, &self->inner);
}

/* One for each function at it, called as its location. */
static void put_frame(struct writer *self, const struct sample_frame *frame)
{
	const struct samples *samples = self->model->samples;

	for (uint32_t i = 0; i < frame->location_count; i++) {
		const struct sample_location *location =
			&samples->locations[frame->first_location + i];

		proto_number(&self->inner, FRAME_ID, (uint64_t)frame->first_location + i + 1);
		proto_number(&self->inner, FRAME_FUNCTION, (uint64_t)location->function + 1);
		proto_number(&self->inner, FRAME_MAPPING, (uint64_t)frame->code + 1);
		proto_number(&self->inner, FRAME_ADDRESS, frame->address);
		if (location->line)
			proto_number(&self->inner, FRAME_LINE, location->line);
		proto_message(&self->interned, INTERNED_FRAMES, &self->inner);
	}
}

static int write_names(struct writer *self)
{
	const struct samples *samples = self->model->samples;
	int r = 0;

	for (size_t i = 0; !r && i < samples->code_count; i++) {
		put_code(self, &samples->codes[i], i + 1);
		r = interned_end(self, PACKET_ENOUGH);
	}
	for (size_t i = 0; !r && i < samples->function_count; i++) {
		put_text(self, INTERNED_FUNCTIONS, i + 1, samples->functions[i].name);
		r = interned_end(self, PACKET_ENOUGH);
	}
	for (size_t i = 0; !r && i < samples->frame_count; i++) {
		put_frame(self, &samples->frames[i]);
		r = interned_end(self, PACKET_ENOUGH);
	}
	return r ? r : interned_end(self, 0);
}

/* The outermost frame first. */
static void put_stack(struct writer *self, uint32_t stack)
{
	const struct samples *samples = self->model->samples;
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(samples, stack, frames);

	proto_number(&self->inner, STACK_ID, (uint64_t)stack + 1);
	while (count-- > 0) {
		const struct sample_frame *frame = &samples->frames[frames[count]];

		for (uint32_t i = frame->location_count; i-- > 0;)
			proto_number(&self->inner, STACK_FRAME,
				     (uint64_t)frame->first_location + i + 1);
	}
	proto_message(&self->interned, INTERNED_STACKS, &self->inner);
	proto_message(&self->packet, PACKET_INTERNED, &self->interned);
	self->is_written[stack] = true;
}

static int write_sample(const struct sample_event *event, void *context)
{
	struct writer *self = context;
	const struct samples *samples = self->model->samples;
	const struct sample_frame *frame;

	if (!(self->kinds & KIND_BIT(event->kind)) || event->stack == STACK_NONE)
		return 0;
	frame = &samples->frames[samples->stacks[event->stack].frame];
	if (!self->is_written[event->stack])
		put_stack(self, event->stack);
	proto_number(&self->inner, SAMPLE_CPU, event->cpu);
	proto_number(&self->inner, SAMPLE_PID, (uint64_t)event->thread->process->pid);
	proto_number(&self->inner, SAMPLE_TID, (uint64_t)event->thread->tid);
	proto_number(&self->inner, SAMPLE_STACK, (uint64_t)event->stack + 1);
	proto_number(&self->inner, SAMPLE_MODE,
		     samples->codes[frame->code].kind == CODE_KERNEL ? MODE_KERNEL : MODE_USER);
	if (event->end != STACK_COMPLETE)
		proto_number(&self->inner, SAMPLE_ERROR, unwind_errors[event->end]);
	proto_message(&self->packet, PACKET_SAMPLE, &self->inner);
	proto_number(&self->packet, PACKET_TIMESTAMP, event->time_ns);
	return packet_end(self);
}

int pftrace_samples_write(struct model *model, FILE *out)
{
	struct writer self = { .model = model, .out = out, .kinds = profile_kinds(model->samples) };
	int r = 0;

	if (!model->samples->count)
		return 0;
	self.is_written = calloc(model->samples->stack_count + 1, sizeof(*self.is_written));
	r = self.is_written ? write_names(&self) : -ENOMEM;
	if (!r)
		r = model_each_sample(model, write_sample, &self);
	writer_done(&self);
	return r;
}

/* Field numbers of counters. */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT_NAME = 6 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_COUNTER_REAL = 44, TYPE_COUNTER = 4 };

static uint64_t metric_track(const struct model_metric *metric)
{
	return 1ull << 61 | metric->number;
}

static int track_write(struct writer *self, const struct model_metric *metric)
{
	const char *unit = metric_rate_unit(metric);
	char title[256], name[300];

	metric_title(self->model, metric, title, sizeof(title));
	print_into(name, sizeof(name), "%s%s%s%s", title, unit[0] ? " (" : "", unit,
		   unit[0] ? ")" : "");
	proto_text(&self->interned, COUNTER_UNIT_NAME, unit);
	proto_number(&self->inner, TRACK_UUID, metric_track(metric));
	proto_text(&self->inner, TRACK_NAME, name);
	if (metric->process) /* its track: see pftrace.c */
		proto_number(&self->inner, TRACK_PARENT, 1 + metric->process->number);
	proto_message(&self->inner, TRACK_COUNTER, &self->interned);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_write(&self->trace, &self->packet, SEQUENCE_WINDOWS, self->out);
}

static int point_write(const struct model_metric *metric, uint64_t time_ns, double value,
		       void *context)
{
	struct writer *self = context;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	proto_number(&self->inner, EVENT_TYPE, TYPE_COUNTER);
	proto_number(&self->inner, EVENT_TRACK, metric_track(metric));
	proto_fixed(&self->inner, EVENT_COUNTER_REAL, bits);
	proto_message(&self->packet, PACKET_EVENT, &self->inner);
	return packet_write(&self->trace, &self->packet, SEQUENCE_WINDOWS, self->out);
}

int pftrace_windows_write(struct model *model, FILE *out)
{
	struct writer self = { .model = model, .out = out };
	size_t count = model->windows.metric_count;
	int r = 0;

	if (!model->windows.count)
		return 0;
	for (size_t i = 0; !r && i < count; i++)
		r = track_write(&self, &model->windows.metrics[i]);
	if (!r)
		r = model_each_point(model, point_write, &self);
	writer_done(&self);
	return r;
}

/*
 * Samples of Perfetto (PerfSample), on a separate sequence of packets.  Modules, functions and
 * frames are written first, a stack with its first sample.
 */
#include "host/export/trace/pftrace_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/export/exporter.h"
#include "host/export/proto.h"
#include "host/export/trace/pftrace_packet.h"
#include "host/model/samples/profile.h"

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
	bool *is_told; /* by stack */
	bool has_begun;
};

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
	self->is_told[stack] = true;
}

static bool is_in_kernel(const struct samples *samples, uint32_t stack)
{
	const struct sample_frame *frame = &samples->frames[samples->stacks[stack].frame];

	return samples->codes[frame->code].kind == CODE_KERNEL;
}

static int write_sample(const struct sample_event *event, void *context)
{
	struct writer *self = context;

	if (!(self->kinds & KIND_BIT(event->kind)) || event->stack == STACK_NONE)
		return 0;
	if (!self->is_told[event->stack])
		put_stack(self, event->stack);
	proto_number(&self->inner, SAMPLE_CPU, event->cpu);
	proto_number(&self->inner, SAMPLE_PID, (uint64_t)event->thread->process->pid);
	proto_number(&self->inner, SAMPLE_TID, (uint64_t)event->thread->tid);
	proto_number(&self->inner, SAMPLE_STACK, (uint64_t)event->stack + 1);
	proto_number(&self->inner, SAMPLE_MODE,
		     is_in_kernel(self->model->samples, event->stack) ? MODE_KERNEL : MODE_USER);
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
	self.is_told = calloc(model->samples->stack_count + 1, sizeof(*self.is_told));
	r = self.is_told ? write_names(&self) : -ENOMEM;
	if (!r)
		r = model_each_sample(model, write_sample, &self);
	free(self.is_told);
	bytes_done(&self.trace);
	bytes_done(&self.packet);
	bytes_done(&self.interned);
	bytes_done(&self.inner);
	return r;
}

/*
 * pprof: Go's profile format, gzipped protocol buffers.  Frames are locations, with inlined
 * functions as further lines; threads are labels.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/export/exporter.h"
#include "host/export/gzip.h"
#include "host/export/profile/pprof.h"
#include "host/export/proto.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/profile.h"

/* Field numbers of profile.proto. */
enum profile_field {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum type_field { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_INLINES = 10,
};
enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM = 3, FUNCTION_FILE = 4 };

/* The values; the third and fourth if waits were sampled. */
static const struct {
	const char *type, *unit;
} value_types[] = { { "samples", "count" },       { "cpu", "nanoseconds" },
		    { "off-cpu", "nanoseconds" }, { "runnable", "nanoseconds" },
		    { "alloc_objects", "count" }, { "alloc_space", "bytes" },
		    { "inuse_objects", "count" }, { "inuse_space", "bytes" },
		    { "contentions", "count" },   { "delay", "nanoseconds" },
		    { "calls", "count" },         { "io", "nanoseconds" } };

enum {
	VALUE_COUNT,
	VALUE_CPU,
	VALUE_OFF_CPU,
	VALUE_RUNNABLE,
	VALUES,
	VALUE_ALLOC_COUNT = VALUES,
	VALUE_ALLOC_BYTES,
	VALUE_LIVE_COUNT,
	VALUE_LIVE_BYTES,
	VALUES_OF_MEMORY,
	VALUE_LOCK_COUNT = VALUES_OF_MEMORY,
	VALUE_LOCK_TIME,
	VALUES_OF_LOCKS,
	VALUE_IO_COUNT = VALUES_OF_LOCKS,
	VALUE_IO_TIME,
	VALUES_OF_IO,
};

/* Which values a sample has: how many it stands for, and their weight. */
static const struct {
	unsigned count, weight;
} value_of_kind[MODEL_KINDS] = {
	[SAMPLE_RUNNING] = { VALUE_COUNT, VALUE_CPU },
	[SAMPLE_BLOCKED] = { VALUE_COUNT, VALUE_OFF_CPU },
	[SAMPLE_RUNNABLE] = { VALUE_COUNT, VALUE_RUNNABLE },
	[SAMPLE_ALLOCATED] = { VALUE_ALLOC_COUNT, VALUE_ALLOC_BYTES },
	[SAMPLE_LIVE] = { VALUE_LIVE_COUNT, VALUE_LIVE_BYTES },
	[SAMPLE_LOCK] = { VALUE_LOCK_COUNT, VALUE_LOCK_TIME },
	[SAMPLE_IO] = { VALUE_IO_COUNT, VALUE_IO_TIME },
};

struct pprof {
	struct model *model;
	struct bytes profile, message, inner, packed;
	struct pool texts;            /* the table of strings: 0 is "" */
	unsigned first_value, values; /* of value_types: the first, and the end */
	unsigned shown;               /* by default */
	/* Which of the model's are in the profile, by their numbers. */
	bool *frames, *functions, *codes;
};

static void mark_frame(struct pprof *self, uint32_t number)
{
	const struct samples *samples = self->model->samples;
	const struct sample_frame *frame = &samples->frames[number];

	self->frames[number] = true;
	self->codes[frame->code] = true;
	for (uint32_t i = 0; i < frame->location_count; i++)
		self->functions[samples->locations[frame->first_location + i].function] = true;
}

static int mark_used(struct pprof *self, const struct profile *profile)
{
	const struct samples *samples = self->model->samples;
	uint32_t frames[STACK_DEPTH_MAX];

	self->frames = calloc(samples->frame_count + 1, sizeof(*self->frames));
	self->functions = calloc(samples->function_count + 1, sizeof(*self->functions));
	self->codes = calloc(samples->code_count + 1, sizeof(*self->codes));
	if (!self->frames || !self->functions || !self->codes)
		return -ENOMEM;
	for (size_t i = 0; i < profile->count; i++)
		for (size_t count = stack_frames(samples, profile->entries[i].stack, frames);
		     count-- > 0;)
			if (!self->frames[frames[count]])
				mark_frame(self, frames[count]);
	return 0;
}

static uint64_t string_index(struct pprof *self, const char *string)
{
	uint32_t number = pool_add(&self->texts, string);

	self->profile.has_failed |= number == POOL_NONE;
	return number == POOL_NONE ? 0 : number;
}

static void put_type(struct pprof *self, unsigned field, unsigned type)
{
	proto_number(&self->message, TYPE_TYPE, string_index(self, value_types[type].type));
	proto_number(&self->message, TYPE_UNIT, string_index(self, value_types[type].unit));
	proto_message(&self->profile, field, &self->message);
}

static void put_packed(struct pprof *self, uint64_t value)
{
	bytes_varint(&self->packed, value);
	self->profile.has_failed |= self->packed.has_failed;
}

static void put_label(struct pprof *self, const char *key, const char *string, int64_t number)
{
	proto_number(&self->inner, LABEL_KEY, string_index(self, key));
	if (string)
		proto_number(&self->inner, LABEL_TEXT, string_index(self, string));
	else
		proto_number(&self->inner, LABEL_NUMBER, (uint64_t)number);
	proto_message(&self->message, SAMPLE_LABEL, &self->inner);
}

/* Of a recording of a fleet. */
static void put_rank(struct pprof *self, const struct model_process *process)
{
	static const char *const labels[][2] = { { "LIMPET_RANK", "rank" },
						 { "LIMPET_NODE", "node" },
						 { "LIMPET_JOB", "job" } };

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const char *value = process_variable(process, labels[i][0]);

		if (value)
			put_label(self, labels[i][1], value, 0);
	}
}

static void put_labels(struct pprof *self, const struct profile_entry *entry)
{
	const struct model_thread *thread = self->model->threads[entry->thread];

	put_label(self, "thread", thread->name, 0);
	put_label(self, "tid", NULL, thread->tid);
	if (self->model->process_count > 1) {
		put_label(self, "process", thread->process->name, 0);
		put_label(self, "pid", NULL, thread->process->pid);
	}
	put_rank(self, thread->process);
	if (entry->end != STACK_COMPLETE)
		put_label(self, "incomplete", stack_end_key(entry->end), 0);
}

static void put_sample(struct pprof *self, const struct profile_entry *entry)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(self->model->samples, entry->stack, frames);

	for (size_t i = 0; i < count; i++)
		put_packed(self, (uint64_t)frames[i] + 1);
	proto_message(&self->message, SAMPLE_LOCATION, &self->packed);
	for (unsigned i = self->first_value; i < self->values; i++)
		put_packed(self, i == value_of_kind[entry->kind].count    ? entry->count
				 : i == value_of_kind[entry->kind].weight ? entry->weight_ns
									  : 0);
	proto_message(&self->message, SAMPLE_VALUE, &self->packed);
	if (entry->thread != THREAD_NONE)
		put_labels(self, entry);
	proto_message(&self->profile, PROFILE_SAMPLE, &self->message);
}

/* Addresses of a mapping are those of its file: it begins at 0 and has no end. */
static void put_mapping(struct pprof *self, const struct sample_code *code, uint64_t id)
{
	char build_id[BUILD_ID_TEXT_MAX];

	build_id_text(code->build_id, code->build_id_size, build_id);
	proto_number(&self->message, MAPPING_ID, id);
	proto_number(&self->message, MAPPING_LIMIT, UINT64_MAX);
	proto_number(&self->message, MAPPING_FILE, string_index(self, code->path));
	proto_number(&self->message, MAPPING_BUILD_ID, string_index(self, build_id));
	for (unsigned i = MAPPING_HAS_FUNCTIONS; i <= MAPPING_HAS_INLINES; i++)
		proto_number(&self->message, i, 1);
	proto_message(&self->profile, PROFILE_MAPPING, &self->message);
}

/* pprof takes the first mapping for the program: its file, or, if nothing of it was sampled, one
 * without locations. */
static void put_mappings(struct pprof *self)
{
	const struct samples *samples = self->model->samples;
	const char *program =
		self->model->process_count ? self->model->processes[0]->executable : "";
	struct sample_code unsampled = { .path = (char *)(uintptr_t)program };
	size_t first = 0;

	while (first < samples->code_count && strcmp(samples->codes[first].path, program))
		first++;
	if (first < samples->code_count)
		put_mapping(self, &samples->codes[first], first + 1);
	else if (program[0])
		put_mapping(self, &unsampled, first + 1);
	for (size_t i = 0; i < samples->code_count; i++)
		if (i != first && self->codes[i])
			put_mapping(self, &samples->codes[i], i + 1);
}

static void put_location(struct pprof *self, const struct sample_frame *frame, uint64_t id)
{
	const struct samples *samples = self->model->samples;

	proto_number(&self->message, LOCATION_ID, id);
	proto_number(&self->message, LOCATION_MAPPING, (uint64_t)frame->code + 1);
	proto_number(&self->message, LOCATION_ADDRESS, frame->address);
	for (uint32_t i = 0; i < frame->location_count; i++) {
		const struct sample_location *location =
			&samples->locations[frame->first_location + i];

		proto_number(&self->inner, LINE_FUNCTION, (uint64_t)location->function + 1);
		proto_number(&self->inner, LINE_LINE, location->line);
		proto_message(&self->message, LOCATION_LINE, &self->inner);
	}
	proto_message(&self->profile, PROFILE_LOCATION, &self->message);
}

/* A function's file is that of its first location with one. */
static int put_functions(struct pprof *self)
{
	const struct samples *samples = self->model->samples;
	CLEANUP(free) const char **files = calloc(samples->function_count + 1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < samples->location_count; i++)
		if (!files[samples->locations[i].function] && samples->locations[i].file[0])
			files[samples->locations[i].function] = samples->locations[i].file;
	for (size_t i = 0; i < samples->function_count; i++) {
		uint64_t name;

		if (!self->functions[i])
			continue;
		name = string_index(self, samples->functions[i].name);
		proto_number(&self->message, FUNCTION_ID, i + 1);
		proto_number(&self->message, FUNCTION_NAME, name);
		proto_number(&self->message, FUNCTION_SYSTEM, name);
		proto_number(&self->message, FUNCTION_FILE,
			     string_index(self, files[i] ? files[i] : ""));
		proto_message(&self->profile, PROFILE_FUNCTION, &self->message);
	}
	return 0;
}

static void put_head(struct pprof *self)
{
	const struct samples *samples = self->model->samples;
	bool is_memory = self->first_value == VALUE_ALLOC_COUNT;
	char comment[256];

	for (unsigned i = self->first_value; i < self->values; i++)
		put_type(self, PROFILE_TYPE, i);
	put_type(self, PROFILE_PERIOD_TYPE, self->shown);
	proto_number(&self->profile, PROFILE_DEFAULT_TYPE,
		     string_index(self, value_types[self->shown].type));
	proto_number(&self->profile, PROFILE_PERIOD,
		     self->first_value ? MAX(is_memory ? self->model->alloc_sample : 1u, 1u)
		     : samples->hz     ? 1000000000u / samples->hz
				       : 0);
	proto_number(&self->profile, PROFILE_TIME,
		     samples->first_ns + (uint64_t)model_wall_offset_ns(self->model));
	proto_number(&self->profile, PROFILE_DURATION, samples->last_ns - samples->first_ns);
	if (self->first_value)
		call_view_describe(self->model, comment, sizeof(comment));
	else
		snprintf(comment, sizeof(comment),
			 "limpet: sampler %s, %" PRIu64 " lost, %" PRIu64 ".%02" PRIu64
			 " %% of the stacks complete",
			 samples->sampler, samples->lost, samples_complete(samples) / 100,
			 samples_complete(samples) % 100);
	proto_number(&self->profile, PROFILE_COMMENT, string_index(self, comment));
}

static int put_all(struct pprof *self, const struct profile *profile)
{
	const struct samples *samples = self->model->samples;

	string_index(self, "");
	put_head(self);
	for (size_t i = 0; i < profile->count; i++)
		put_sample(self, &profile->entries[i]);
	put_mappings(self);
	for (size_t i = 0; i < samples->frame_count; i++)
		if (self->frames[i])
			put_location(self, &samples->frames[i], i + 1);
	if (put_functions(self))
		return -ENOMEM;
	for (size_t i = 0; i < self->texts.count; i++)
		proto_text(&self->profile, PROFILE_STRING, self->texts.texts[i]);
	return self->profile.has_failed || self->message.has_failed ? -ENOMEM : 0;
}

/* Of each view of calls: the first value, the end, and the default one. */
static const struct call_values {
	unsigned view, first, end, shown;
} call_values[] = {
	{ KIND_BIT(SAMPLE_ALLOCATED), VALUE_ALLOC_COUNT, VALUES_OF_MEMORY, VALUE_ALLOC_BYTES },
	{ KIND_BIT(SAMPLE_LIVE), VALUE_ALLOC_COUNT, VALUES_OF_MEMORY, VALUE_LIVE_BYTES },
	{ KIND_BIT(SAMPLE_LOCK), VALUE_LOCK_COUNT, VALUES_OF_LOCKS, VALUE_LOCK_TIME },
	{ KIND_BIT(SAMPLE_IO), VALUE_IO_COUNT, VALUES_OF_IO, VALUE_IO_TIME },
};

static void choose_values(struct pprof *self, unsigned view)
{
	const uint64_t *kinds = self->model->samples->kinds;

	self->shown = VALUE_CPU;
	self->values = kinds[SAMPLE_BLOCKED] + kinds[SAMPLE_RUNNABLE] ? VALUES : VALUE_OFF_CPU;
	for (size_t i = 0; i < ARRAY_SIZE(call_values); i++) {
		if (view != call_values[i].view)
			continue;
		self->first_value = call_values[i].first;
		self->values = call_values[i].end;
		self->shown = call_values[i].shown;
	}
}

int pprof_encode(struct model *model, bool is_by_thread, struct bytes *ret)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	struct pprof self = { .model = model };
	unsigned view = model->samples->view;
	bool is_memory = profile_kinds_are_bytes(view);
	int r = sample_profile_gather(
		&profile, model,
		&(struct profile_filter){ .kinds = is_memory ? KINDS_MEMORY : view,
					  .is_by_thread = is_by_thread });

	choose_values(&self, view);
	if (!r)
		r = mark_used(&self, &profile);
	if (!r)
		r = put_all(&self, &profile);
	if (!r)
		r = gzip_put(&self.profile, ret);
	bytes_done(&self.profile);
	bytes_done(&self.message);
	bytes_done(&self.inner);
	bytes_done(&self.packed);
	pool_done(&self.texts);
	free(self.frames);
	free(self.functions);
	free(self.codes);
	return r;
}

static int pprof_write(struct model *model, FILE *out)
{
	CLEANUP(bytes_done) struct bytes packed = { 0 };
	int r = pprof_encode(model, /* is_by_thread */ true, &packed);

	if (r)
		return r;
	fwrite(packed.data, 1, packed.size, out);
	return export_state(out);
}

const struct exporter_format format_pprof = {
	.looks_like = "\037\213\010*" GZIP_COMMENT "*",
	.write = pprof_write,
};

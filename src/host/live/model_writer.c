/*
 * Packs codes, frames, stacks, names and samples in chunks.
 */
#include "host/live/model_writer.h"

#include "host/model/samples/samples.h"

#include <string.h>

#define ITEMS_AT_ONCE 4096u
#define BYTES_AT_ONCE (1u << 20) /* names may be long, and a chunk has a limit */

typedef void item_putter(struct model_writer *self, uint32_t index);

void model_writer_begin(struct model_writer *self)
{
	static const char head[NUMBERED_HEAD_BYTES];

	self->bytes.size = 0;
	self->packer = (struct sample_packer){ 0 };
	self->count = 0;
	bytes_put(&self->bytes, head, sizeof(head));
}

int model_writer_end(struct model_writer *self, enum chunk_kind kind, uint32_t first,
		     struct err *err)
{
	if (!self->count)
		return 0;
	numbered_set(&self->bytes, &(struct numbered_head){ first, self->count });
	return recording_samples(self->file, kind, &self->bytes, err);
}

bool model_writer_is_full(const struct model_writer *self)
{
	return self->bytes.size >= BYTES_AT_ONCE;
}

void model_writer_put_code(struct model_writer *self, uint32_t index)
{
	const struct sample_code *code = &self->samples->codes[index];
	struct recorded_code put = { .kind = code->kind,
				     .process = code->process == PROCESS_NONE
							? PROCESS_NONE
							: self->processes + code->process,
				     .build_id_size = code->build_id_size,
				     .path = code->path };

	memcpy(put.build_id, code->build_id, sizeof(put.build_id));
	item_put(&self->bytes, CHUNK_CODE, &put);
	self->count++;
}

static void put_frame(struct model_writer *self, uint32_t index)
{
	const struct sample_frame *frame = &self->samples->frames[index];

	frame_pack(&self->bytes, &self->packer,
		   &(struct recorded_frame){ .code = self->codes ? self->codes[frame->code]
								 : frame->code,
					     .is_return = frame->is_return,
					     .address = frame->address });
	self->count++;
}

static void put_stack(struct model_writer *self, uint32_t index)
{
	const struct sample_stack *stack = &self->samples->stacks[index];
	uint32_t first = self->stacks;

	stack_pack(&self->bytes, &self->packer, first + index,
		   &(struct recorded_stack){ stack->caller == STACK_NONE ? STACK_NONE
									 : first + stack->caller,
					     self->frames + stack->frame });
	self->count++;
}

static void put_names(struct model_writer *self, uint32_t index)
{
	const struct sample_frame *frame = &self->samples->frames[index];
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count = MIN(frame->location_count, FRAME_NAMES_MAX);

	for (uint32_t i = 0; i < count; i++) {
		const struct sample_location *location =
			&self->samples->locations[frame->first_location + i];

		names[i] = (struct recorded_name){
			.function = self->samples->functions[location->function].name,
			.file = location->file,
			.line = location->line,
		};
	}
	if (self->skips_unnamed && (frame->is_unnamed || !count))
		return;
	names_pack(&self->bytes, self->frames + index, names, count);
	self->count++;
}

static int items_write(struct model_writer *self, enum chunk_kind kind, uint32_t first,
		       size_t count, item_putter *put, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < count;) {
		size_t end = MIN(i + ITEMS_AT_ONCE, count);
		uint32_t at = kind == CHUNK_NAMES ? 0 : first + (uint32_t)i;

		model_writer_begin(self);
		for (; i < end && !model_writer_is_full(self); i++)
			put(self, (uint32_t)i);
		r = model_writer_end(self, kind, at, err);
	}
	return r;
}

int model_writer_stacks(struct model_writer *self, struct err *err)
{
	const struct samples *samples = self->samples;
	int r = 0;

	if (!self->codes)
		r = items_write(self, CHUNK_CODE, 0, samples->code_count, model_writer_put_code,
				err);
	if (!r)
		r = items_write(self, CHUNK_FRAMES, self->frames, samples->frame_count, put_frame,
				err);
	if (!r)
		r = items_write(self, CHUNK_STACKS, self->stacks, samples->stack_count, put_stack,
				err);
	return r ? r : items_write(self, CHUNK_NAMES, 0, samples->frame_count, put_names, err);
}

int model_writer_sample(struct model_writer *self, const struct recorded_sample *sample,
			struct err *err)
{
	int r;

	sample_pack(&self->bytes, &self->packer, sample);
	if (++self->count < ITEMS_AT_ONCE)
		return 0;
	r = model_writer_end(self, CHUNK_SAMPLES, 0, err);
	model_writer_begin(self);
	return r;
}

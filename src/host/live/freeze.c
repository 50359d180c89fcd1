/*
 * Writes a model's samples into a recording: the numbers in the file are those of the model.
 */
#include "host/live/freeze.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/live/live.h"
#include "host/model/samples/profile.h"
#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

#include <errno.h>
#include <string.h>

#define ITEMS_AT_ONCE 4096u

struct freezing {
	const struct freeze_options *options;
	struct recording *file;
	const struct model *model;
	const struct samples *samples;
	uint64_t ends[STACK_ENDS];
	struct err *err;
};

/* One for each program that it has executed meanwhile. */
static int write_processes(struct freezing *self)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < self->model->process_count; i++) {
		const struct model_process *process = self->model->processes[i];
		struct recorded_process facts = { .pid = process->pid,
						  .name = process->name,
						  .executable = process->executable,
						  .command = process->command,
						  .folder = process->folder };

		r = recording_process(self->file, &facts, self->err);
	}
	return r;
}

static int write_threads(struct freezing *self)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < self->model->thread_count; i++) {
		const struct model_thread *thread = self->model->threads[i];
		struct recorded_thread facts = { .process = thread->process->number,
						 .tid = thread->tid,
						 .name = thread->name };

		r = recording_thread(self->file, &facts, self->err);
	}
	return r;
}

struct chunk_items {
	enum chunk_kind kind;
	size_t count;
	void (*put)(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		    size_t i);
};

static void put_code(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		     size_t i)
{
	const struct sample_code *code = &self->samples->codes[i];
	struct recorded_code recorded = { .kind = code->kind,
					  .process = code->process,
					  .build_id_size = code->build_id_size,
					  .path = code->path };

	(void)packer;
	memcpy(recorded.build_id, code->build_id, sizeof(recorded.build_id));
	item_put(bytes, CHUNK_CODE, &recorded);
}

static void put_frame(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		      size_t i)
{
	const struct sample_frame *frame = &self->samples->frames[i];

	frame_pack(bytes, packer,
		   &(struct recorded_frame){ frame->code, frame->is_return, frame->address });
}

static void put_stack(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		      size_t i)
{
	const struct sample_stack *stack = &self->samples->stacks[i];

	stack_pack(bytes, packer, (uint32_t)i,
		   &(struct recorded_stack){ stack->caller, stack->frame });
}

static void put_sample(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		       size_t i)
{
	const struct recorded_sample *sample = &self->samples->kept[i];

	self->ends[sample->end]++;
	sample_pack(bytes, packer, sample);
}

static void put_names(struct freezing *self, struct bytes *bytes, struct sample_packer *packer,
		      size_t i)
{
	const struct sample_frame *frame = &self->samples->frames[i];
	uint32_t count = MIN(frame->location_count, FRAME_NAMES_MAX);
	struct recorded_name names[FRAME_NAMES_MAX];

	(void)packer;
	for (uint32_t at = 0; at < count; at++) {
		const struct sample_location *location =
			&self->samples->locations[frame->first_location + at];

		names[at] =
			(struct recorded_name){ self->samples->functions[location->function].name,
						location->file, location->line };
	}
	names_pack(bytes, (uint32_t)i, names, count);
}

static int write_slice(struct freezing *self, const struct chunk_items *items, size_t first,
		       size_t count)
{
	static const char head[NUMBERED_HEAD_BYTES];
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	struct sample_packer packer = { 0 };

	bytes_put(&bytes, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		items->put(self, &bytes, &packer, first + i);
	numbered_set(&bytes, &(struct numbered_head){ (uint32_t)first, (uint32_t)count });
	return recording_samples(self->file, items->kind, &bytes, self->err);
}

static int write_items(struct freezing *self, const struct chunk_items *items)
{
	int r = 0;

	for (size_t first = 0; !r && first < items->count; first += ITEMS_AT_ONCE)
		r = write_slice(self, items, first, MIN(items->count - first, ITEMS_AT_ONCE));
	return r;
}

static int write_samples(struct freezing *self)
{
	const struct chunk_items all[] = {
		{ CHUNK_CODE, self->samples->code_count, put_code },
		{ CHUNK_FRAMES, self->samples->frame_count, put_frame },
		{ CHUNK_STACKS, self->samples->stack_count, put_stack },
		{ CHUNK_SAMPLES, self->samples->kept_count, put_sample },
		{ CHUNK_NAMES, self->samples->frame_count, put_names },
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(all); i++)
		r = write_items(self, &all[i]);
	return r;
}

static int write_totals(struct freezing *self)
{
	const struct freeze_options *options = self->options;
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	struct recorded_sampling sampling = {
		.sampler = options->source->sampler,
		.reasons = options->source->reasons,
		.hz = options->hz,
		.flags = SAMPLING_ON_CPU | SAMPLING_KERNEL |
			 (options->has_off_cpu ? SAMPLING_OFF_CPU : 0u) |
			 (samples_are_system_wide(self->samples) ? SAMPLING_SYSTEM_WIDE : 0u),
		.samples = self->samples->kept_count,
		.lost = options->source->lost,
	};

	memcpy(sampling.ends, self->ends, sizeof(sampling.ends));
	item_put(&bytes, CHUNK_SAMPLING, &sampling);
	return recording_samples(self->file, CHUNK_SAMPLING, &bytes, self->err);
}

static int write_all(struct model *model, void *context)
{
	struct freezing *self = context;
	int r = facts_session(self->file, self->options->version, "", self->err);

	self->model = model;
	self->samples = model->samples;
	if (!r)
		r = recording_clock(self->file, self->err);
	if (!r)
		r = write_processes(self);
	if (!r)
		r = write_threads(self);
	if (!r)
		r = write_samples(self);
	return r ? r : write_totals(self);
}

int freeze_write(struct live *live, const struct freeze_options *options, uint64_t *ret_samples,
		 struct err *err)
{
	struct freezing self = { .options = options, .err = err };
	int r = options->new_file < 0
			? recording_create(options->path, &self.file, err)
			: recording_create_in(options->new_file, options->path, &self.file, err);

	if (r)
		return r;
	r = live_read(live, 0, UINT64_MAX, write_all, &self);
	if (r && !err->code)
		err_set(err, r, "write '%s': no memory", options->path);
	if (r)
		recording_abandon(self.file);
	else
		r = recording_close(self.file,
				    &(struct recorded_end){ .reason = RECORDING_COMPLETE }, err);
	for (unsigned i = 0; i < STACK_ENDS; i++)
		*ret_samples += self.ends[i];
	if (!r && !*ret_samples) {
		r = err_set(err, -ENODATA, "there is no sample yet to write to '%s'",
			    options->path);
		err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	return r;
}

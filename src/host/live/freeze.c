/*
 * Writes a model's samples into a recording: the numbers in the file are those of the model.
 */
#include "host/live/freeze.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/live/live.h"
#include "host/live/model_writer.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <string.h>

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

static int write_samples(struct freezing *self)
{
	struct model_writer writer = { .file = self->file, .samples = self->samples };
	int r = model_writer_stacks(&writer, self->err);

	model_writer_begin(&writer);
	for (size_t i = 0; !r && i < self->samples->kept_count; i++) {
		self->ends[self->samples->kept[i].end]++;
		r = model_writer_sample(&writer, &self->samples->kept[i], self->err);
	}
	if (!r)
		r = model_writer_end(&writer, CHUNK_SAMPLES, 0, self->err);
	bytes_done(&writer.bytes);
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

/*
 * The samples of all ranks in one recording, for any reader: processes are named after their ranks,
 * times are the time of day of each rank's node, and numbers of processes and threads that occur on
 * two nodes are changed.  Calls and windows are not included.
 */
#include "host/fleet/export/fleet_export.h"

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/live/model_writer.h"
#include "host/model/samples/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID_LIMIT 0x400000 /* the kernel's maximum */
#define TICKS_HZ  1000000000u

/* Variables of each process in the recording. */
#define VARIABLE_OF_RANK "LIMPET_RANK"
#define VARIABLE_OF_NODE "LIMPET_NODE"
#define VARIABLE_OF_JOB  "LIMPET_JOB"

struct merged_recording {
	struct recording *file;
	struct model_writer writer;
	const char *job;
	uint32_t threads;   /* of the models before */
	struct pool codes;  /* keys of codes, by number */
	struct table taken; /* (number of a process or thread, 0): in use */
	int32_t spare;      /* the next number that no real process can have */
	struct recorded_sampling sampling;
	char sampler[32];
	uint64_t begin_ns, end_ns; /* CLOCK_REALTIME, of all samples */
};

/* Its own number, or a free one if that is taken already. */
static int number_assign(struct merged_recording *self, int32_t number, int32_t *ret)
{
	bool is_new;

	if (!table_make(&self->taken, (uint64_t)number, 0, &is_new))
		return -ENOMEM;
	*ret = is_new && number > 0 ? number : self->spare++;
	return 0;
}

static int process_add(struct merged_recording *self, const struct model_process *process,
		       const struct fleet_rank *rank, const char *node, int32_t *ret_pid,
		       struct err *err)
{
	char number[16];
	const struct recorded_variable variables[] = { { VARIABLE_OF_RANK, number },
						       { VARIABLE_OF_NODE, node },
						       { VARIABLE_OF_JOB, self->job } };
	struct recorded_process put = { .start_ns = 0,
					.name = process->name,
					.executable = process->executable,
					.command = process->command,
					.folder = process->folder ? process->folder : "" };
	int r = number_assign(self, process->pid, &put.pid);

	snprintf(number, sizeof(number), "%u", rank->number);
	if (r)
		return err_set(err, r, "ranks: no memory");
	*ret_pid = put.pid;
	r = recording_process(self->file, &put, err);
	return r ? r
		 : recording_list(self->file, CHUNK_VARIABLES,
				  &(struct list_head){ put.number, 0, ARRAY_SIZE(variables) },
				  variables, err);
}

/* The main thread of a process has its number. */
static int thread_add(struct merged_recording *self, const struct model_thread *thread,
		      const int32_t *pids, struct err *err)
{
	const struct model_process *process = thread->process;
	struct recorded_thread put = { .process = self->writer.processes + process->number,
				       .tid = pids[process->number],
				       .name = thread->name };
	int r = thread->tid == process->pid ? 0 : number_assign(self, thread->tid, &put.tid);

	return r ? err_set(err, r, "ranks: no memory") : recording_thread(self->file, &put, err);
}

/* A file is the same code in all ranks; generated code belongs to its process. */
static int code_number(struct merged_recording *self, const struct sample_code *code, uint32_t *ret)
{
	CLEANUP(free) char *key = NULL;
	char build_id[BUILD_ID_TEXT_MAX];

	build_id_text(code->build_id, code->build_id_size, build_id);
	if (asprintf(&key, "%u %lld %s %s", (unsigned)code->kind,
		     code->process == PROCESS_NONE
			     ? -1LL
			     : (long long)self->writer.processes + code->process,
		     build_id, code->path) < 0)
		return -ENOMEM;
	*ret = pool_add(&self->codes, key);
	return *ret == POOL_NONE ? -ENOMEM : 0;
}

/* Writes the new ones; all get their numbers. */
static int codes_write(struct merged_recording *self, uint32_t *numbers, struct err *err)
{
	struct model_writer *writer = &self->writer;
	uint32_t first = (uint32_t)self->codes.count;
	int r = 0;

	model_writer_begin(writer);
	for (size_t i = 0; !r && i < writer->samples->code_count; i++) {
		size_t before = self->codes.count;

		if (code_number(self, &writer->samples->codes[i], &numbers[i]))
			return err_set(err, -ENOMEM, "ranks: no memory");
		if (self->codes.count > before)
			model_writer_put_code(writer, (uint32_t)i);
		if (!model_writer_is_full(writer))
			continue;
		r = model_writer_end(writer, CHUNK_CODE, first, err);
		model_writer_begin(writer);
		first = (uint32_t)self->codes.count;
	}
	return r ? r : model_writer_end(writer, CHUNK_CODE, first, err);
}

struct sample_run {
	struct merged_recording *merged;
	int64_t offset_ns; /* from its node's CLOCK_BOOTTIME to the time of day */
	struct err *err;
};

static int on_sample(const struct sample_event *event, void *context)
{
	struct sample_run *run = context;
	struct merged_recording *self = run->merged;
	uint64_t time_ns = event->time_ns + (uint64_t)run->offset_ns;
	struct recorded_sample put = {
		.thread = self->threads + event->thread->number,
		.stack = event->stack == STACK_NONE ? STACK_NONE
						    : self->writer.stacks + event->stack,
		.time_ns = time_ns,
		.weight_ns = event->weight_ns,
		.cpu = event->cpu,
		.kind = (uint8_t)event->kind,
		.end = (uint8_t)event->end,
		.flags = event->is_guessed ? SAMPLE_GUESSED : 0,
		.state = (uint8_t)event->state,
	};
	uint64_t begin_ns = time_ns - MIN(event->weight_ns, time_ns);

	self->begin_ns = self->begin_ns ? MIN(self->begin_ns, begin_ns) : begin_ns;
	self->end_ns = MAX(self->end_ns, time_ns);
	return model_writer_sample(&self->writer, &put, run->err);
}

static int samples_write(struct merged_recording *self, struct model *model, struct err *err)
{
	struct sample_run run = { .merged = self,
				  .offset_ns = model_wall_offset_ns(model),
				  .err = err };
	int r;

	model_writer_begin(&self->writer);
	r = model_each_sample(model, on_sample, &run);
	if (!r)
		r = model_writer_end(&self->writer, CHUNK_SAMPLES, 0, err);
	else if (!err->code)
		err_set(err, r, "ranks: no memory");
	return r;
}

static void totals_add(struct merged_recording *self, const struct samples *samples)
{
	struct recorded_sampling *to = &self->sampling;

	if (!self->sampler[0])
		snprintf(self->sampler, sizeof(self->sampler), "%s", samples->sampler);
	to->hz = MAX(to->hz, samples->hz);
	to->flags |= samples->flags & (SAMPLING_ON_CPU | SAMPLING_OFF_CPU | SAMPLING_KERNEL);
	to->samples += samples->count;
	to->lost += samples->lost;
	for (unsigned i = 0; i < STACK_ENDS; i++)
		to->ends[i] += samples->ends[i];
}

static int family_write(struct merged_recording *self, const struct model *model,
			const struct fleet_rank *rank, struct err *err)
{
	CLEANUP(free) int32_t *pids = calloc(model->process_count + 1, sizeof(*pids));
	int r = 0;

	if (!pids)
		return err_set(err, -ENOMEM, "ranks: no memory");
	for (uint32_t i = 0; !r && i < model->process_count; i++)
		r = process_add(self, model->processes[i], rank, model->host, &pids[i], err);
	for (uint32_t i = 0; !r && i < model->thread_count; i++)
		r = thread_add(self, model->threads[i], pids, err);
	return r;
}

static int stacks_write(struct merged_recording *self, const struct samples *samples,
			struct err *err)
{
	CLEANUP(free) uint32_t *codes = calloc(samples->code_count + 1, sizeof(*codes));
	int r;

	self->writer.samples = samples;
	self->writer.codes = codes;
	r = codes ? codes_write(self, codes, err) : err_set(err, -ENOMEM, "ranks: no memory");
	return r ? r : model_writer_stacks(&self->writer, err);
}

/* A model without samples adds its processes only. */
static int rank_merge(struct fleet_export *export, struct model *model,
		      const struct fleet_rank *rank, void *context, struct err *err)
{
	struct merged_recording *self = context;
	const struct samples *samples = model->samples;
	int r = family_write(self, model, rank, err);

	export->ranks++;
	export->samples += samples->count;
	if (!r)
		r = stacks_write(self, samples, err);
	if (!r)
		r = samples_write(self, model, err);
	totals_add(self, samples);
	self->writer.processes += model->process_count;
	self->threads += model->thread_count;
	self->writer.frames += (uint32_t)samples->frame_count;
	self->writer.stacks += (uint32_t)samples->stack_count;
	return r;
}

/* All clocks are set to the time of day: those of the nodes have nothing else in common. */
static int clock_write(struct merged_recording *self, uint64_t time_ns, struct err *err)
{
	return recording_item(self->file, CHUNK_CLOCK,
			      &(struct clock_point){ .ticks = time_ns,
						     .stated_hz = TICKS_HZ,
						     .raw_ns = time_ns,
						     .monotonic_ns = time_ns,
						     .boot_ns = time_ns,
						     .real_ns = time_ns },
			      err);
}

static int end_write(struct merged_recording *self, struct err *err)
{
	int r = clock_write(self, self->begin_ns, err);

	self->sampling.sampler = self->sampler;
	self->sampling.reasons = "";
	if (!r)
		r = clock_write(self, MAX(self->end_ns, self->begin_ns + 1), err);
	if (!r)
		r = recording_item(self->file, CHUNK_SAMPLING, &self->sampling, err);
	return r ? r
		 : recording_item(self->file, CHUNK_END,
				  &(struct recorded_end){ .reason = RECORDING_COMPLETE }, err);
}

/* After an error the file stays without an end. */
int fleet_export_merge(struct fleet_export *self, int file, const char *path, struct err *err)
{
	struct merged_recording merged = { .writer.skips_unnamed = true,
					   .job = self->fleet->title,
					   .spare = PID_LIMIT + 1 };
	const struct recorded_session session = { .limpet_version = self->version,
						  .host = "several nodes",
						  .kernel = "",
						  .machine = "",
						  .command = "limpet fleet export",
						  .options = "" };
	struct recorded_contents ignored;
	struct err second = { 0 };
	int ended, r = file < 0 ? recording_create(path, &merged.file, err)
				: recording_create_in(file, path, &merged.file, err);

	merged.writer.file = merged.file;
	if (!r)
		r = recording_item(merged.file, CHUNK_SESSION, &session, err);
	if (!r)
		r = fleet_export_each(self, rank_merge, &merged, err);
	if (!r && !self->samples)
		r = err_set(err, -ENODATA, "no rank has samples");
	if (!r)
		r = end_write(&merged, err);
	if (merged.file) {
		ended = recording_end(merged.file, /* end */ NULL, &ignored, r ? &second : err);
		recording_abandon(merged.file);
		r = r ? r : ended;
	}
	bytes_done(&merged.writer.bytes);
	table_done(&merged.taken);
	pool_done(&merged.codes);
	return r;
}

/*
 * perf-script: samples as the text that `perf script` prints, in the order of time; for its readers
 * (FlameScope, the Firefox profiler, stackcollapse-perf.pl, ...).
 */
#include <inttypes.h>

#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/model/samples/profile.h"

struct perf_script {
	struct model *model;
	FILE *out;
	unsigned kinds;
};

static const char *const event_names[MODEL_KINDS] = {
	[SAMPLE_RUNNING] = "cpu-clock",
	[SAMPLE_BLOCKED] = "off-cpu",
	[SAMPLE_RUNNABLE] = "runnable",
	[SAMPLE_ALLOCATED] = "alloc",
	[SAMPLE_LIVE] = "live",
	[SAMPLE_LOCK] = "lock",
	[SAMPLE_IO] = "io",
};

/* Inlined functions have the address of the frame that they are in. */
static void write_frame(FILE *out, const struct samples *samples, const struct sample_frame *frame)
{
	for (uint32_t i = 0; i < frame->location_count; i++) {
		uint32_t function = samples->locations[frame->first_location + i].function;

		fprintf(out, "\t%16" PRIx64 " ", frame->address);
		if (samples->functions[function].is_named)
			foreign_write(out, FOREIGN_TEXT, samples->functions[function].name);
		else
			fputs("[unknown]", out);
		fputs(i + 1 < frame->location_count ? " (inlined" : " (", out);
		if (i + 1 == frame->location_count)
			foreign_write(out, FOREIGN_TEXT, samples->codes[frame->code].path);
		fputs(")\n", out);
	}
}

static int write_sample(const struct sample_event *event, void *context)
{
	struct perf_script *self = context;
	const struct samples *samples = self->model->samples;
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count;

	if (!(self->kinds & KIND_BIT(event->kind)))
		return 0;
	foreign_write(self->out, FOREIGN_TEXT, event->thread->name[0] ? event->thread->name : ":");
	print(self->out, " %d/%d [%03u] %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s:\n",
	      event->thread->process->pid, event->thread->tid, event->cpu,
	      event->time_ns / 1000000000u, event->time_ns % 1000000000u, event->weight_ns,
	      event_names[event->kind]);
	count = stack_frames(samples, event->stack, frames);
	for (size_t i = 0; i < count; i++)
		write_frame(self->out, samples, &samples->frames[frames[i]]);
	fputc('\n', self->out);
	return export_state(self->out);
}

static int perf_script_write(struct model *model, FILE *out)
{
	struct perf_script self = { model, out, profile_kinds(model->samples) };

	return model_each_sample(model, write_sample, &self);
}

const struct exporter_format format_perf_script = {
	.looks_like = "* [0-9]*/[0-9]* [[][0-9]*[]] [0-9]*.[0-9]*: [0-9]* *:*",
	.write = perf_script_write,
};

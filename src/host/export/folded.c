/*
 * folded: one line for each stack, outermost first, and how many samples had it.  The first name is
 * the thread's, with its process where there are several.  What flamegraph.pl, inferno, speedscope
 * and many others read.
 */
#include <errno.h>
#include <inttypes.h>

#include "host/core/cleanup.h"
#include "host/core/foreign.h"
#include "host/export/exporter.h"
#include "host/model/profile.h"

static void write_frame(FILE *out, const struct samples *samples, uint32_t number)
{
	const struct sample_frame *frame = &samples->frames[number];

	for (uint32_t i = frame->place_count; i-- > 0;) {
		uint32_t function = samples->places[frame->first_place + i].function;

		fputc(';', out);
		foreign_write(out, FOREIGN_FOLDED, samples->functions[function].name);
	}
}

/* Waiting is told in microseconds: how often says little about it. */
static void write_entry(FILE *out, const struct model *model, const struct profile_entry *entry,
			bool is_time)
{
	const struct model_thread *thread = model->threads[entry->thread];
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(model->samples, entry->stack, frames);

	if (model->process_count > 1) {
		foreign_write(out, FOREIGN_FOLDED, thread->process->name);
		fprintf(out, " %d: ", thread->process->pid);
	}
	foreign_write(out, FOREIGN_FOLDED, thread->name);
	if (entry->end != STACK_COMPLETE)
		fputs(";[incomplete stack]", out);
	while (count-- > 0)
		write_frame(out, model->samples, frames[count]);
	fprintf(out, " %" PRIu64 "\n", is_time ? (entry->weight_ns + 500) / 1000 : entry->count);
}

static int folded_write(struct model *model, FILE *out)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	unsigned kinds = profile_kinds(model->samples);

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = kinds, .is_by_thread = true }))
		return -ENOMEM;
	for (size_t i = 0; i < profile.count; i++)
		write_entry(out, model, &profile.entries[i], kinds != KINDS_ON_CPU);
	return export_state(out);
}

static const char *const extensions[] = { ".folded", ".collapsed", NULL };

const struct exporter exporter_folded = {
	.name = "folded",
	.summary = "one line for each stack",
	.extensions = extensions,
	.write = folded_write,
	.is_of_samples = true,
};

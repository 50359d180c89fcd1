/*
 * folded: one line for each stack, outermost first, and how many samples had it, or how many bytes
 * were allocated there.  The first name is the threads', with its process where there are several;
 * of a recording of every process, first the process and then the thread.  For flamegraph.pl,
 * inferno, speedscope and many others.
 */
#include <errno.h>

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"
#include "host/export/exporter.h"
#include "host/export/profile/folded_lines.h"
#include "host/model/samples/profile.h"

static void write_frame(FILE *out, const struct samples *samples, uint32_t number)
{
	const struct sample_frame *frame = &samples->frames[number];

	for (uint32_t i = frame->location_count; i-- > 0;) {
		uint32_t function = samples->locations[frame->first_location + i].function;

		fputc(';', out);
		foreign_write(out, FOREIGN_FOLDED, samples->functions[function].name);
	}
}

static void write_stack(FILE *out, const struct model *model, const struct profile_entry *entry)
{
	const struct model_thread *thread = model->threads[entry->thread];
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(model->samples, entry->stack, frames);

	if (samples_are_system_wide(model->samples)) {
		foreign_write(out, FOREIGN_FOLDED, thread->process->name);
		fprintf(out, " (%d);", thread->process->pid);
	} else if (model->process_count > 1) {
		foreign_write(out, FOREIGN_FOLDED, thread->process->name);
		fprintf(out, " %d: ", thread->process->pid);
	}
	foreign_write(out, FOREIGN_FOLDED, thread->name);
	if (entry->end != STACK_COMPLETE)
		fputs(";[incomplete stack]", out);
	while (count-- > 0)
		write_frame(out, model->samples, frames[count]);
}

/* Waits are weighted in microseconds, as their count means little.  Memory is in bytes. */
static int folded_write(struct model *model, FILE *out)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(folded_lines_done) struct folded_lines lines = { 0 };
	unsigned kinds = profile_kinds(model->samples);
	bool is_counted = kinds == KINDS_ON_CPU;
	int r;

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = kinds, .is_by_thread = true }))
		return -ENOMEM;
	r = folded_lines_open(&lines);
	for (size_t i = 0; !r && i < profile.count; i++) {
		const struct profile_entry *entry = &profile.entries[i];

		write_stack(lines.out, model, entry);
		r = folded_lines_add(&lines, is_counted ? entry->count : entry->weight_ns);
	}
	if (r)
		return r;
	folded_lines_write(&lines, is_counted || profile_kinds_are_bytes(kinds) ? 1 : 1000, out);
	return export_state(out);
}

const struct exporter_format format_folded = {
	.looks_like = "[!\001-\040<{#/\"]*;[!\001-\040]*",
	.write = folded_write,
};

/*
 * folded: one line for each stack, outermost first, and how many samples had it.  The first name is
 * the thread's, with its process where there are several.  What flamegraph.pl, inferno, speedscope
 * and many others read.
 */
#include <errno.h>
#include <inttypes.h>

#include "host/core/cleanup.h"
#include "host/core/utf8.h"
#include "host/export/exporter.h"
#include "host/model/profile.h"

/* Semicolons end a name, line ends a stack. */
static void write_name(FILE *out, const char *name)
{
	for (const unsigned char *at = (const unsigned char *)name; *at;) {
		size_t length = utf8_length(at);

		if (!length || *at < 0x20 || *at == 0x7f)
			fputc('?', out);
		else if (*at == ';')
			fputc(':', out);
		else
			fwrite(at, 1, length, out);
		at += length ? length : 1;
	}
}

static void write_frame(FILE *out, const struct samples *samples, uint32_t number)
{
	const struct sample_frame *frame = &samples->frames[number];

	for (uint32_t i = frame->place_count; i-- > 0;) {
		uint32_t function = samples->places[frame->first_place + i].function;

		fputc(';', out);
		write_name(out, samples->functions[function].name);
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
		write_name(out, thread->process->name);
		fprintf(out, " %d: ", thread->process->pid);
	}
	write_name(out, thread->name);
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

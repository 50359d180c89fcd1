/*
 * folded: one line for each stack, outermost first, and how many samples had it, or how many bytes
 * were allocated there.  The first name is the threads', with its process where there are several;
 * of a recording of every process, first the process and then the thread.  For flamegraph.pl,
 * inferno, speedscope and many others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/text/foreign.h"
#include "host/export/exporter.h"
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

/* Stacks that read alike are one: of threads of one name, or at other locations of a function. */
struct lines {
	struct pool stacks;
	uint64_t *sums; /* of each */
	FILE *out;      /* one stack, in memory: */
	char *text;
	size_t size;
};

static int lines_open(struct lines *ret, size_t count)
{
	*ret = (struct lines){ .sums = calloc(count + 1, sizeof(*ret->sums)) };
	ret->out = open_memstream(&ret->text, &ret->size);
	return ret->sums && ret->out ? 0 : -ENOMEM;
}

static void lines_done(struct lines *lines)
{
	if (lines->out)
		fclose(lines->out);
	free(lines->text);
	free(lines->sums);
	pool_done(&lines->stacks);
}

static inline void lines_done_at_scope_end(struct lines *lines)
{
	lines_done(lines);
}

static int lines_add(struct lines *lines, const struct model *model,
		     const struct profile_entry *entry, uint64_t value)
{
	uint32_t number;

	rewind(lines->out);
	write_stack(lines->out, model, entry);
	fputc('\0', lines->out); /* cuts off a longer line's rest */
	if (fflush(lines->out) || ferror(lines->out))
		return -ENOMEM;
	number = pool_add(&lines->stacks, lines->text);
	if (number == POOL_NONE)
		return -ENOMEM;
	lines->sums[number] += value;
	return 0;
}

/* Waits are weighted in microseconds, as their count means little.  Memory is in bytes. */
static void lines_write(const struct lines *lines, unsigned kinds, FILE *out)
{
	bool is_time = kinds != KINDS_ON_CPU && !profile_kinds_are_bytes(kinds);

	for (size_t i = 0; i < lines->stacks.count; i++) {
		foreign_write(out, FOREIGN_TEXT, lines->stacks.texts[i]);
		fprintf(out, " %" PRIu64 "\n",
			is_time ? (lines->sums[i] + 500) / 1000 : lines->sums[i]);
	}
}

static int folded_write(struct model *model, FILE *out)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(lines_done) struct lines lines = { 0 };
	unsigned kinds = profile_kinds(model->samples);
	bool is_counted = kinds == KINDS_ON_CPU;
	int r;

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = kinds, .is_by_thread = true }))
		return -ENOMEM;
	r = lines_open(&lines, profile.count);
	for (size_t i = 0; !r && i < profile.count; i++)
		r = lines_add(&lines, model, &profile.entries[i],
			      is_counted ? profile.entries[i].count : profile.entries[i].weight_ns);
	if (r)
		return r;
	lines_write(&lines, kinds, out);
	return export_state(out);
}

const struct exporter_format format_folded = {
	.looks_like = "[!\001-\040<{#/\"]*;[!\001-\040]*",
	.write = folded_write,
};

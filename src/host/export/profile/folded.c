/*
 * Folded stacks: lines of names with ';' between them, outermost first, and a sum for each.  Stacks
 * that read alike are one line.  For flamegraph.pl, inferno, speedscope and many others.
 *
 * folded: how many samples had a stack, or how many bytes were allocated there.  The first name is
 * the threads', with its process where there are several; of a recording of every process, first
 * the process and then the thread.
 *
 * kernel-folded: the stacks that kernels were launched from, with the kernel as their innermost
 * name, and the nanoseconds that devices spent on it: a flame graph of the devices' time by lines
 * of the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/core/text/foreign.h"
#include "host/export/exporter.h"
#include "host/model/devices/launches.h"
#include "host/model/samples/profile.h"

struct folded_lines {
	FILE *out;          /* one stack, in memory: write it here, then add it */
	struct pool stacks; /* in the order of their coming */
	uint64_t *sums;     /* of each */
	size_t room;
	char *text;
	size_t size;
};

/* 0 or -ENOMEM, both. */
static int folded_lines_open(struct folded_lines *ret)
{
	*ret = (struct folded_lines){ 0 };
	ret->out = open_memstream(&ret->text, &ret->size);
	return ret->out ? 0 : -ENOMEM;
}

/* Adds to the sum of the stack that was written, and empties it. */
static int folded_lines_add(struct folded_lines *lines, uint64_t value)
{
	size_t before = lines->stacks.count;
	uint32_t number;

	fputc('\0', lines->out); /* cuts off a longer line's rest */
	if (fflush(lines->out) || ferror(lines->out))
		return -ENOMEM;
	rewind(lines->out);
	number = pool_add(&lines->stacks, lines->text);
	if (number == POOL_NONE ||
	    make_room(&lines->sums, number, &lines->room, sizeof(*lines->sums)))
		return -ENOMEM;
	if (lines->stacks.count > before)
		lines->sums[number] = 0;
	lines->sums[number] += value;
	return 0;
}

/* Sums are divided by `unit`, and rounded. */
static void folded_lines_write(const struct folded_lines *lines, uint64_t unit, FILE *out)
{
	for (size_t i = 0; i < lines->stacks.count; i++) {
		foreign_write(out, FOREIGN_TEXT, lines->stacks.texts[i]);
		fprintf(out, " %" PRIu64 "\n", (lines->sums[i] + unit / 2) / unit);
	}
}

static void folded_lines_done(struct folded_lines *lines)
{
	if (lines->out)
		fclose(lines->out);
	free(lines->text);
	free(lines->sums);
	pool_done(&lines->stacks);
}

DEFINE_STRUCT_CLEANUP(folded_lines, folded_lines_done)

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

#define NO_STACK "[no stack]"

struct kernel_folded {
	const struct model *model;
	struct launches launches;
	struct folded_lines lines;
};

/* Lines are innermost first. */
static void write_lines(FILE *out, const char *lines)
{
	struct stack_line found[RECORD_PYTHON_FRAMES_MAX];
	size_t count = 0;

	while (count < ARRAY_SIZE(found) && stack_line_next(&lines, &found[count]))
		count++;
	while (count-- > 0) {
		foreign_write(out, FOREIGN_FOLDED, found[count].function);
		fputc(';', out);
	}
}

static int kernel_add(const struct call *call, void *context)
{
	struct kernel_folded *self = context;
	const char *lines;

	if (call->function->domain != DOMAIN_KERNEL)
		return launches_add(&self->launches, call);
	lines = launches_find(&self->launches, call);
	if (self->model->process_count > 1)
		fprintf(self->lines.out, "%d;", call->process->pid);
	write_lines(self->lines.out, lines[0] ? lines : NO_STACK);
	foreign_write(self->lines.out, FOREIGN_FOLDED, call_name(call));
	return folded_lines_add(&self->lines, call->end_ns - call->begin_ns);
}

static int kernel_folded_write(struct model *model, FILE *out)
{
	struct kernel_folded self = { .model = model };
	int r = folded_lines_open(&self.lines);

	if (!r)
		r = model_each_call(model, kernel_add, &self);
	if (!r && !self.lines.stacks.count)
		r = -ENODATA;
	if (!r)
		folded_lines_write(&self.lines, /* unit */ 1, out);
	folded_lines_done(&self.lines);
	launches_done(&self.launches);
	return r ? r : export_state(out);
}

const struct exporter_format format_kernel_folded = {
	.looks_like = "[!\001-\040<{#/\"]*;[!\001-\040]*",
	.write = kernel_folded_write,
};

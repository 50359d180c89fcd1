/*
 * kernel-folded: one line for each stack that kernels were launched from, outermost first, with the
 * kernel as its innermost name, and the nanoseconds that devices spent on it.  For flamegraph.pl,
 * inferno and speedscope: a flame graph of the devices' time by lines of the program.
 */
#include <errno.h>

#include "host/core/text/foreign.h"
#include "host/export/exporter.h"
#include "host/export/profile/folded_lines.h"
#include "host/model/devices/launches.h"

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

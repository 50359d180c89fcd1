/*
 * kernel-folded: one line for each stack that kernels were launched from, outermost first, with the
 * kernel as its innermost name, and the nanoseconds that devices spent on it.  For flamegraph.pl,
 * inferno and speedscope: a flame graph of the devices' time by lines of the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/core/text/foreign.h"
#include "host/export/exporter.h"
#include "host/model/devices/launches.h"

#define NO_STACK "[no stack]"

struct kernel_folded {
	struct model *model;
	struct launches launches;
	struct pool stacks;
	uint64_t *sums; /* of each */
	size_t room;
	FILE *line; /* one stack, in memory: */
	char *text;
	size_t size;
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

static int write_stack(struct kernel_folded *self, const struct call *call)
{
	const char *lines = launches_find(&self->launches, self->model, call);

	rewind(self->line);
	if (self->model->process_count > 1)
		fprintf(self->line, "%d;", call->process->pid);
	write_lines(self->line, lines[0] ? lines : NO_STACK);
	foreign_write(self->line, FOREIGN_FOLDED, call_name(call));
	fputc('\0', self->line); /* cuts off a longer line's rest */
	return fflush(self->line) || ferror(self->line) ? -ENOMEM : 0;
}

static int folded_take(const struct call *call, void *context)
{
	struct kernel_folded *self = context;
	size_t before = self->stacks.count;
	uint32_t number;

	if (call->function->domain != DOMAIN_KERNEL)
		return launches_take(&self->launches, self->model, call);
	if (write_stack(self, call))
		return -ENOMEM;
	number = pool_add(&self->stacks, self->text);
	if (number == POOL_NONE || make_room(&self->sums, number, &self->room, sizeof(*self->sums)))
		return -ENOMEM;
	if (self->stacks.count > before)
		self->sums[number] = 0;
	self->sums[number] += call->end_ns - call->begin_ns;
	return 0;
}

static int kernel_folded_write(struct model *model, FILE *out)
{
	struct kernel_folded self = { .model = model };
	int r = -ENOMEM;

	self.line = open_memstream(&self.text, &self.size);
	if (self.line)
		r = model_each_call(model, folded_take, &self);
	if (!r && !self.stacks.count)
		r = -ENODATA;
	for (size_t i = 0; !r && i < self.stacks.count; i++) {
		foreign_write(out, FOREIGN_TEXT, self.stacks.texts[i]);
		fprintf(out, " %" PRIu64 "\n", self.sums[i]);
	}
	if (self.line)
		fclose(self.line);
	free(self.text);
	free(self.sums);
	pool_done(&self.stacks);
	launches_done(&self.launches);
	return r ? r : export_state(out);
}

const struct exporter_format format_kernel_folded = {
	.looks_like = "[!\001-\040<{#/\"]*;[!\001-\040]*",
	.write = kernel_folded_write,
};

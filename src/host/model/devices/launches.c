/*
 * Texts come from a file that is not trusted.
 */
#include "host/model/devices/launches.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/core/text/print.h"
#include "host/model/samples/stack_text.h"
#include "shared/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES_KEPT (1u << 20)
#define LINE_ROOM     600u

const char *call_stack_lines(const struct call *call)
{
	uint64_t number = call_number(call, VALUE_CALL_STACK);

	return number ? names_find(&call->process->names, NAME_CALL_STACK, number) : "";
}

/* Up to one of these letters, cut to the room. */
static const char *field_copy(const char *at, char end, char *ret, size_t room)
{
	size_t length = strcspn(at, (const char[]){ end, '\n', '\0' });

	snprintf(ret, room, "%.*s", (int)MIN(length, room), at);
	return at + length + (at[length] == end);
}

bool stack_line_next(const char **lines, struct stack_line *ret)
{
	char number[16];
	const char *at = *lines;

	if (!*at)
		return false;
	at = field_copy(at, '\t', ret->function, sizeof(ret->function));
	at = field_copy(at, '\t', ret->file, sizeof(ret->file));
	at = field_copy(at, '\n', number, sizeof(number));
	ret->line = (unsigned)strtoul(number, NULL, 10);
	*lines = at + (*at == '\n');
	return true;
}

void stack_line_print(const struct stack_line *line, char *ret, size_t room)
{
	if (line->line)
		print_into(ret, room, "%s (%s:%u)", line->function, line->file, line->line);
	else if (line->file[0])
		print_into(ret, room, "%s (%s)", line->function, line->file);
	else
		print_into(ret, room, "%s", line->function);
}

void stack_lines_print(const char *lines, char *ret, size_t room)
{
	struct stack_line line;
	size_t length = 0;

	ret[0] = '\0';
	while (length + 1 < room && stack_line_next(&lines, &line)) {
		if (length)
			ret[length++] = ';';
		stack_line_print(&line, ret + length, room - length);
		length += strlen(ret + length);
	}
}

/* Where there is no file there is the module. */
static void line_write(struct bytes *out, const struct samples *samples,
		       const struct sample_location *location)
{
	const struct sample_function *function = &samples->functions[location->function];
	const char *file = location->file[0]    ? location->file
			   : function->is_named ? samples->codes[function->code].name
						: "";
	char text[LINE_ROOM];

	print_into(text, sizeof(text), "%.255s\t%.255s\t%u\n", function->name, file,
		   location->line);
	bytes_put(out, text, strlen(text));
}

/* A runtime's callers, innermost first. */
static const char *native_text(struct launches *self, const struct call *call)
{
	CLEANUP(bytes_done) struct bytes text = { 0 };
	struct stack_cursor cursor = { .stack = call->stack };
	const struct sample_location *location;
	char mark[STACK_MARK_MAX];

	while ((location = stack_next(call->model->samples, &cursor)))
		line_write(&text, call->model->samples, location);
	if (stack_mark(call->stack_end, mark)[0]) {
		bytes_put(&text, mark, strlen(mark));
		bytes_put(&text, "\t\t0\n", 4);
	}
	bytes_put(&text, "", 1);
	return text.has_failed ? NULL : pool_keep(&self->texts, (const char *)text.data);
}

static const char *native_lines(struct launches *self, const struct call *call)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&self->native, call->stack, call->stack_end, &is_new);

	if (!entry)
		return NULL;
	if (is_new)
		entry->value = (uintptr_t)native_text(self, call);
	return (const char *)(uintptr_t)entry->value;
}

static int runtime_add(struct launches *self, const struct call *call)
{
	bool is_new;
	struct table_entry *entry = table_make(&self->runtimes, call->thread->number, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	if (call->begin_ns < entry->value)
		return 0; /* inside of another one */
	entry->value = call->end_ns;
	entry->more = (uintptr_t)native_lines(self, call);
	return entry->more ? 0 : -ENOMEM;
}

/* Of a call of the driver: its own, else those of the runtime's call around it. */
static const char *lines_find(const struct launches *self, const struct call *call)
{
	const char *lines = call_stack_lines(call);
	const struct table_entry *entry = table_find(&self->runtimes, call->thread->number, 0);

	if (lines[0] || !entry || call->begin_ns >= entry->value)
		return lines;
	return (const char *)(uintptr_t)entry->more;
}

int launches_add(struct launches *self, const struct call *call)
{
	bool is_runtime = call->function->domain == DOMAIN_CUDA_RUNTIME;
	const char *lines = is_runtime ? "" : lines_find(self, call);
	struct table_entry *entry;
	bool is_new;

	if (is_runtime && call->has_stack)
		return runtime_add(self, call);
	if (!lines[0])
		return 0;
	self->has_stacks = true;
	if (self->recent.count >= LAUNCHES_KEPT) {
		table_done(&self->before);
		self->before = self->recent;
		self->recent = (struct table){ 0 };
	}
	entry = table_make(&self->recent, call->process->number, call_correlation(call), &is_new);
	if (!entry)
		return -ENOMEM;
	entry->value = (uintptr_t)lines;
	return 0;
}

const char *launches_find(const struct launches *self, const struct call *work)
{
	uint64_t correlation = call_correlation(work);
	const struct table_entry *entry =
		table_find(&self->recent, work->process->number, correlation);

	if (!entry)
		entry = table_find(&self->before, work->process->number, correlation);
	return entry ? (const char *)(uintptr_t)entry->value : "";
}

void launches_done(struct launches *launches)
{
	table_done(&launches->recent);
	table_done(&launches->before);
	table_done(&launches->runtimes);
	table_done(&launches->native);
	pool_done(&launches->texts);
	*launches = (struct launches){ 0 };
}

/* The innermost line, without the folders. */
static void innermost_print(const char *lines, char *ret, size_t room)
{
	struct stack_line line;

	ret[0] = '\0';
	if (!stack_line_next(&lines, &line))
		return;
	memmove(line.file, path_base_name(line.file), strlen(path_base_name(line.file)) + 1);
	stack_line_print(&line, ret, room);
}

int launch_summary_add(struct launch_summary *self, const struct call *call)
{
	char place[LINE_ROOM];
	struct launch_row *row;
	uint64_t hash;

	if (call->function->domain != DOMAIN_KERNEL)
		return launches_add(&self->launches, call);
	innermost_print(launches_find(&self->launches, call), place, sizeof(place));
	hash = hash_add_text(hash_add_byte(hash_add_text(HASH_SEED, call_name(call)), 0), place);
	row = row_find(&self->by_names, (struct row_key){ call->process->number, hash },
		       &self->rows, &self->count, sizeof(*row));
	if (row && !row->process)
		*row = (struct launch_row){ call->process, strdup(call_name(call)), strdup(place),
					    0, 0 };
	if (!row || !row->kernel || !row->place)
		return -ENOMEM;
	row->count++;
	row->total_ns += call->end_ns - call->begin_ns;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct launch_row *a = left, *b = right;

	return a->total_ns > b->total_ns ? -1 : a->total_ns < b->total_ns;
}

void launch_summary_sort(struct launch_summary *self)
{
	rows_sort(self->rows, self->count, sizeof(*self->rows), by_time);
	if (!self->launches.has_stacks || !self->count)
		launch_summary_done(self);
}

void launch_summary_done(struct launch_summary *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		free(self->rows[i].kernel);
		free(self->rows[i].place);
	}
	free(self->rows);
	table_done(&self->by_names.numbers);
	launches_done(&self->launches);
	*self = (struct launch_summary){ 0 };
}

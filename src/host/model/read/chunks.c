/*
 * Reads the chunks of a recording into a model.
 */

#include "host/model/read/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/model/samples/samples.h"
#include "host/model/windows/windows.h"
#include "host/recording/facts.h"
#include "host/recording/read_ahead.h"

void model_process_free(struct model_process *process)
{
	free(process->modules);
	free(process->files);
	free(process->variables);
	free(process->counters);
	names_done(&process->names);
	free(process->functions);
	free(process->name);
	free(process->executable);
	free(process->command);
	free(process->folder);
	free(process);
}

/* Room for one more pointer; the list grows by doubling. */
static int model_grow(void *list, uint32_t count)
{
	void **old = *(void ***)list, **longer;

	if (count & (count - 1) && count)
		return 0;
	longer = realloc(old, (count ? (size_t)count * 2 : 1) * sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	*(void ***)list = longer;
	return 0;
}

static int read_session(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_session session;

	if (item_read(&cursor, CHUNK_SESSION, &session))
		return -EPROTO;
	if (item_keep(CHUNK_SESSION, &session, &model->texts))
		return -ENOMEM;
	model->limpet_version = session.limpet_version;
	model->host = session.host;
	model->kernel = session.kernel;
	model->machine = session.machine;
	model->command = session.command;
	model->options = session.options;
	return 0;
}

static int read_process(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_process facts;
	struct model_process *process;

	if (item_read(&cursor, CHUNK_PROCESS, &facts) || facts.number != model->process_count)
		return -EPROTO;
	process = calloc(1, sizeof(*process));
	if (!process || model_grow(&model->processes, model->process_count)) {
		free(process);
		return -ENOMEM;
	}
	model->processes[model->process_count++] = process;
	process->number = process->number_in_file = facts.number;
	process->pid = facts.pid;
	process->start_ns = facts.start_ns;
	process->parent = facts.parent;
	process->group = facts.group;
	process->session = facts.session;
	process->siblings = facts.siblings;
	return text_set(&process->name, facts.name) ||
			       text_set(&process->executable, facts.executable) ||
			       text_set(&process->command, facts.command) ||
			       text_set(&process->folder, facts.folder)
		       ? -ENOMEM
		       : 0;
}

static int add_thread(struct model *model, const struct recorded_thread *facts)
{
	struct model_thread *thread = calloc(1, sizeof(*thread));

	if (!thread || model_grow(&model->threads, model->thread_count)) {
		free(thread);
		return -ENOMEM;
	}
	model->threads[model->thread_count++] = thread;
	thread->number = facts->number;
	thread->process = model->processes[facts->process];
	thread->tid = facts->tid;
	thread->generation = facts->generation;
	return text_set(&thread->name, facts->name);
}

static int read_thread(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_thread facts;

	if (item_read(&cursor, CHUNK_THREAD, &facts) || facts.process >= model->process_count ||
	    facts.number > model->thread_count)
		return -EPROTO;
	if (facts.number < model->thread_count)
		return text_set(&model->threads[facts.number]->name, facts.name);
	return add_thread(model, &facts);
}

static int read_functions(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct trace_function *longer;
	struct list_head head;

	if (list_read(&cursor, &head) || head.process >= model->process_count)
		return -EPROTO;
	process = model->processes[head.process];
	if (head.first != process->function_count ||
	    head.count > TRACE_FUNCTIONS_MAX - process->function_count || !head.count)
		return -EPROTO;
	longer = reallocarray(process->functions, head.first + head.count, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	process->functions = longer;
	for (uint32_t i = 0; i < head.count; i++) {
		if (function_read(&cursor, &longer[head.first + i]))
			return -EPROTO;
		process->function_count++;
	}
	return 0;
}

static int by_base(const void *left, const void *right)
{
	const struct recorded_module *a = left, *b = right;

	return a->base < b->base ? -1 : a->base > b->base;
}

/* Events come first. */
static int count_events(struct model_process *process)
{
	uint32_t count = process->counter_count;

	process->counter_events = process->counter_count = 0;
	for (; process->counter_count < count; process->counter_count++) {
		if (!process->counters[process->counter_count].is_event)
			continue;
		if (process->counter_events != process->counter_count)
			return -EPROTO;
		process->counter_events++;
	}
	return 0;
}

/* A list of a process: the address of its pointer, and its count. */
struct item_list {
	void *items;
	uint32_t *count;
};

static struct item_list list_of(struct model_process *process, unsigned kind)
{
	switch (kind) {
	case CHUNK_MODULES:
		return (struct item_list){ &process->modules, &process->module_count };
	case CHUNK_FILES:
		return (struct item_list){ &process->files, &process->file_count };
	case CHUNK_VARIABLES:
		return (struct item_list){ &process->variables, &process->variable_count };
	default:
		return (struct item_list){ &process->counters, &process->counter_count };
	}
}

static int read_items(struct model *model, unsigned kind, struct cursor *cursor, uint32_t count,
		      struct item_list list)
{
	size_t size = item_size(kind);
	char *items = calloc(MAX(count, 1u), size);

	free(*(void **)list.items);
	*(void **)list.items = items;
	*list.count = 0;
	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++, items += size) {
		if (item_read(cursor, kind, items))
			return -EPROTO;
		if (item_keep(kind, items, &model->texts))
			return -ENOMEM;
		++*list.count;
	}
	return 0;
}

/* A later list replaces an earlier one; an item has at least a byte. */
static int read_list(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct list_head head;
	int r;

	if (list_read(&cursor, &head) || head.process >= model->process_count ||
	    head.count > (size_t)(cursor.end - cursor.at))
		return -EPROTO;
	process = model->processes[head.process];
	r = read_items(model, chunk->kind, &cursor, head.count, list_of(process, chunk->kind));
	if (chunk->kind == CHUNK_MODULES && process->modules)
		qsort(process->modules, process->module_count, sizeof(*process->modules), by_base);
	if (chunk->kind == CHUNK_COUNTERS && count_events(process) && !r)
		r = -EPROTO;
	return r;
}

static int read_clock(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct clock_point point;

	if (item_read(&cursor, CHUNK_CLOCK, &point))
		return -EPROTO;
	if (!model->has_clock)
		model->first = point;
	model->has_clock = true;
	model->last = point;
	return 0;
}

static int read_drops(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_drops drops;

	if (item_read(&cursor, CHUNK_DROPS, &drops) || drops.process >= model->process_count ||
	    (drops.thread != THREAD_NONE && drops.thread >= model->thread_count))
		return -EPROTO;
	memcpy(drops.thread == THREAD_NONE ? model->processes[drops.process]->drops
					   : model->threads[drops.thread]->drops,
	       drops.counts, sizeof(drops.counts));
	return 0;
}

static int read_syscalls(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_syscalls syscalls;

	if (item_read(&cursor, CHUNK_SYSCALLS, &syscalls) ||
	    syscalls.process >= model->process_count)
		return -EPROTO;
	model->processes[syscalls.process]->syscalls_before = syscalls.began_before;
	model->processes[syscalls.process]->syscalls_under_way = syscalls.under_way;
	return 0;
}

static int read_end(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_end end;

	if (item_read(&cursor, CHUNK_END, &end) || !end.reason || end.reason >= RECORDING_ENDS)
		return -EPROTO;
	model->end = end;
	return 0;
}

static int read_records(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct records_head head;

	if (records_read(&cursor, &head) || head.thread >= model->thread_count)
		return -EPROTO;
	if (head.count > model->records_max - MIN(model->records, model->records_max))
		return -EFBIG;
	return index_records(model, model->threads[head.thread], chunk->at, &head, cursor);
}

/* A reading of an unknown process invalidates its chunk. */
static int usage_add(struct model *model, struct cursor *cursor)
{
	struct usage_readings *self = &model->usage;
	struct recorded_usage usage;

	if (item_read(cursor, CHUNK_USAGE, &usage) || usage.process >= model->process_count)
		return -EPROTO;
	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return -ENOMEM;
	self->items[self->count++] = usage;
	return 0;
}

int usage_read_chunk(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	size_t before = model->usage.count;
	uint32_t count;
	int r = usage_count_read(&cursor, &count);

	if (!r && count > model->records_max - MIN(before, model->records_max))
		return -EFBIG;
	for (uint32_t i = 0; !r && i < count; i++)
		r = usage_add(model, &cursor);
	if (r)
		model->usage.count = before;
	return r;
}

static int (*const readers[])(struct model *model, const struct chunk *chunk) = {
	[CHUNK_SESSION] = read_session,
	[CHUNK_PROCESS] = read_process,
	[CHUNK_THREAD] = read_thread,
	[CHUNK_FUNCTIONS] = read_functions,
	[CHUNK_MODULES] = read_list,
	[CHUNK_CLOCK] = read_clock,
	[CHUNK_RECORDS] = read_records,
	[CHUNK_DROPS] = read_drops,
	[CHUNK_END] = read_end,
	[CHUNK_FILES] = read_list,
	[CHUNK_VARIABLES] = read_list,
	[CHUNK_SAMPLING] = samples_read_sampling,
	[CHUNK_CODE] = samples_read_codes,
	[CHUNK_FRAMES] = samples_read_frames,
	[CHUNK_STACKS] = samples_read_stacks,
	[CHUNK_SAMPLES] = samples_read_chunk,
	[CHUNK_NAMES] = samples_read_names,
	[CHUNK_GIL] = samples_read_gil,
	[CHUNK_SYSCALLS] = read_syscalls,
	[CHUNK_COUNTERS] = read_list,
	[CHUNK_METRICS] = windows_read_metrics,
	[CHUNK_WINDOWS] = windows_read_chunk,
	[CHUNK_USAGE] = usage_read_chunk,
};

/* 0, also where it makes no sense, or -ENOMEM. */
static int chunk_read(struct model *model, const struct chunk *chunk)
{
	bool is_known = chunk->kind < ARRAY_SIZE(readers) && readers[chunk->kind];
	int r = is_known ? readers[chunk->kind](model, chunk) : 0;

	model->left_out += r == -EFBIG;
	model->damaged += r && r != -EFBIG && r != -ENOMEM;
	return r == -ENOMEM ? r : 0;
}

int model_read_chunks(struct model *model)
{
	bool is_large = reader_size(model->reader) >= READ_AHEAD_LEAST;
	struct read_ahead *ahead = is_large ? read_ahead_start(model->reader) : NULL;
	struct chunk chunk;
	int r = 0;

	while (!r && (ahead ? read_ahead_next(ahead, &chunk) : reader_next(model->reader, &chunk)))
		r = chunk_read(model, &chunk);
	read_ahead_stop(ahead);
	return r;
}

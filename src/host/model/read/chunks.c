/*
 * Reads the chunks of a recording into a model.
 */
#include "host/model/read/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/model/read/index.h"
#include "host/model/samples/samples.h"
#include "host/model/windows/windows.h"
#include "host/recording/read_ahead.h"
#include "host/recording/usage_chunks.h"

static void drop_modules(struct model_process *process)
{
	for (uint32_t i = 0; i < process->module_count; i++)
		free((char *)(uintptr_t)process->modules[i].path);
	free(process->modules);
	process->modules = NULL;
	process->module_count = 0;
}

static void drop_files(struct model_process *process)
{
	for (uint32_t i = 0; i < process->file_count; i++)
		free((char *)(uintptr_t)process->files[i].name);
	free(process->files);
	process->files = NULL;
	process->file_count = 0;
}

static void drop_variables(struct model_process *process)
{
	for (uint32_t i = 0; i < process->variable_count; i++) {
		free((char *)(uintptr_t)process->variables[i].name);
		free((char *)(uintptr_t)process->variables[i].value);
	}
	free(process->variables);
	process->variables = NULL;
	process->variable_count = 0;
}

static void drop_counters(struct model_process *process)
{
	for (uint32_t i = 0; i < process->counter_count; i++) {
		free((char *)(uintptr_t)process->counters[i].name);
		free((char *)(uintptr_t)process->counters[i].block);
		free((char *)(uintptr_t)process->counters[i].description);
		free((char *)(uintptr_t)process->counters[i].expression);
		free((char *)(uintptr_t)process->counters[i].expanded);
	}
	free(process->counters);
	process->counters = NULL;
	process->counter_count = process->counter_events = 0;
}

void model_process_free(struct model_process *process)
{
	drop_modules(process);
	drop_files(process);
	drop_variables(process);
	drop_counters(process);
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

static int take_session(struct model *model, const struct chunk *chunk)
{
	struct recorded_session session;

	if (session_take(chunk->payload, &session))
		return -EPROTO;
	return text_set(&model->limpet_version, session.limpet_version) ||
			       text_set(&model->host, session.host) ||
			       text_set(&model->kernel, session.kernel) ||
			       text_set(&model->machine, session.machine) ||
			       text_set(&model->command, session.command) ||
			       text_set(&model->options, session.options)
		       ? -ENOMEM
		       : 0;
}

static int take_process(struct model *model, const struct chunk *chunk)
{
	struct recorded_process facts;
	struct model_process *process;

	if (process_take(chunk->payload, &facts) || facts.number != model->process_count)
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

static int take_thread(struct model *model, const struct chunk *chunk)
{
	struct recorded_thread facts;

	if (thread_take(chunk->payload, &facts) || facts.process >= model->process_count ||
	    facts.number > model->thread_count)
		return -EPROTO;
	if (facts.number < model->thread_count)
		return text_set(&model->threads[facts.number]->name, facts.name);
	return add_thread(model, &facts);
}

static int take_functions(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct trace_function *longer;
	struct list_head head;

	if (list_take(&cursor, &head) || head.process >= model->process_count)
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
		if (function_take(&cursor, &longer[head.first + i]))
			return -EPROTO;
		process->function_count++;
	}
	return 0;
}

/* The head of a list that replaces the process's earlier one; an entry has at least a byte. */
static int take_list(const struct model *model, struct cursor *cursor, struct list_head *ret,
		     struct model_process **ret_process)
{
	if (list_take(cursor, ret) || ret->process >= model->process_count ||
	    ret->count > (size_t)(cursor->end - cursor->at))
		return -EPROTO;
	*ret_process = model->processes[ret->process];
	return 0;
}

static int by_base(const void *left, const void *right)
{
	const struct recorded_module *a = left, *b = right;

	return a->base < b->base ? -1 : a->base > b->base;
}

static int take_modules(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct list_head head;

	if (take_list(model, &cursor, &head, &process))
		return -EPROTO;
	drop_modules(process);
	process->modules = calloc(MAX(head.count, 1u), sizeof(*process->modules));
	if (!process->modules)
		return -ENOMEM;
	for (uint32_t i = 0; i < head.count; i++) {
		struct recorded_module *module = &process->modules[i];

		if (module_take(&cursor, module))
			return -EPROTO;
		module->path = strdup(module->path);
		if (!module->path)
			return -ENOMEM;
		process->module_count++;
	}
	qsort(process->modules, process->module_count, sizeof(*process->modules), by_base);
	return 0;
}

static int take_files(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct list_head head;

	if (take_list(model, &cursor, &head, &process))
		return -EPROTO;
	drop_files(process);
	process->files = calloc(MAX(head.count, 1u), sizeof(*process->files));
	if (!process->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < head.count; i++) {
		struct recorded_file *file = &process->files[i];

		if (file_take(&cursor, file))
			return -EPROTO;
		file->name = strdup(file->name);
		if (!file->name)
			return -ENOMEM;
		process->file_count++;
	}
	return 0;
}

static int take_variables(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct recorded_variable variable;
	struct model_process *process;
	struct list_head head;

	if (take_list(model, &cursor, &head, &process))
		return -EPROTO;
	drop_variables(process);
	process->variables = calloc(MAX(head.count, 1u), sizeof(*process->variables));
	if (!process->variables)
		return -ENOMEM;
	for (uint32_t i = 0; i < head.count; i++) {
		if (variable_take(&cursor, &variable))
			return -EPROTO;
		process->variables[i].name = strdup(variable.name);
		process->variables[i].value = strdup(variable.value);
		process->variable_count++;
		if (!process->variables[i].name || !process->variables[i].value)
			return -ENOMEM;
	}
	return 0;
}

static int keep_counter(struct recorded_counter *counter)
{
	const char **const texts[] = { &counter->name, &counter->block, &counter->description,
				       &counter->expression, &counter->expanded };
	bool is_whole = true;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		*texts[i] = strdup(*texts[i]);
		is_whole &= *texts[i] != NULL;
	}
	return is_whole ? 0 : -ENOMEM;
}

static int take_counters(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct model_process *process;
	struct list_head head;

	if (take_list(model, &cursor, &head, &process))
		return -EPROTO;
	drop_counters(process);
	process->counters = calloc(MAX(head.count, 1u), sizeof(*process->counters));
	if (!process->counters)
		return -ENOMEM;
	for (uint32_t i = 0; i < head.count; i++) {
		struct recorded_counter *counter = &process->counters[i];

		/* Events come first. */
		if (counter_take(&cursor, counter) ||
		    (counter->is_event && process->counter_events != i)) {
			*counter = (struct recorded_counter){ 0 };
			return -EPROTO;
		}
		process->counter_events += counter->is_event;
		process->counter_count++;
		if (keep_counter(counter))
			return -ENOMEM;
	}
	return 0;
}

static int take_clock(struct model *model, const struct chunk *chunk)
{
	struct clock_point point;

	if (clock_take(chunk->payload, &point))
		return -EPROTO;
	if (!model->has_clock)
		model->first = point;
	model->has_clock = true;
	model->last = point;
	return 0;
}

static int take_drops(struct model *model, const struct chunk *chunk)
{
	struct recorded_drops drops;
	uint64_t *into;

	if (drops_take(chunk->payload, &drops) || drops.process >= model->process_count ||
	    (drops.thread != THREAD_NONE && drops.thread >= model->thread_count))
		return -EPROTO;
	into = drops.thread == THREAD_NONE ? model->processes[drops.process]->drops
					   : model->threads[drops.thread]->drops;
	memcpy(into, drops.counts, sizeof(drops.counts));
	return 0;
}

static int take_syscalls(struct model *model, const struct chunk *chunk)
{
	struct recorded_syscalls syscalls;

	if (syscalls_take(chunk->payload, &syscalls) || syscalls.process >= model->process_count)
		return -EPROTO;
	model->processes[syscalls.process]->syscalls_before = syscalls.began_before;
	model->processes[syscalls.process]->syscalls_under_way = syscalls.under_way;
	return 0;
}

static int take_end(struct model *model, const struct chunk *chunk)
{
	struct recorded_end end;

	if (end_take(chunk->payload, &end))
		return -EPROTO;
	model->end = end;
	return 0;
}

static int take_records(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	struct records_head head;

	if (records_take(&cursor, &head) || head.thread >= model->thread_count)
		return -EPROTO;
	if (head.count > model->records_max - MIN(model->records, model->records_max))
		return -EFBIG;
	return index_records(model, model->threads[head.thread], chunk->at, &head, cursor);
}

/* A reading of an unknown process invalidates its chunk. */
static int look_add(struct model *model, struct cursor *cursor)
{
	struct usage_looks *self = &model->usage;
	struct recorded_usage usage;

	if (usage_take(cursor, &usage) || usage.process >= model->process_count)
		return -EPROTO;
	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return -ENOMEM;
	self->items[self->count++] = usage;
	return 0;
}

int usage_take_chunk(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	size_t before = model->usage.count;
	uint32_t count;
	int r = usage_take_count(&cursor, &count);

	if (!r && count > model->records_max - MIN(before, model->records_max))
		return -EFBIG;
	for (uint32_t i = 0; !r && i < count; i++)
		r = look_add(model, &cursor);
	if (r)
		model->usage.count = before;
	return r;
}

typedef int chunk_taker(struct model *model, const struct chunk *chunk);

static chunk_taker *const takers[] = {
	[CHUNK_SESSION] = take_session,
	[CHUNK_PROCESS] = take_process,
	[CHUNK_THREAD] = take_thread,
	[CHUNK_FUNCTIONS] = take_functions,
	[CHUNK_MODULES] = take_modules,
	[CHUNK_CLOCK] = take_clock,
	[CHUNK_RECORDS] = take_records,
	[CHUNK_DROPS] = take_drops,
	[CHUNK_END] = take_end,
	[CHUNK_FILES] = take_files,
	[CHUNK_VARIABLES] = take_variables,
	[CHUNK_SAMPLING] = samples_take_chunk,
	[CHUNK_CODE] = samples_take_chunk,
	[CHUNK_FRAMES] = samples_take_chunk,
	[CHUNK_STACKS] = samples_take_chunk,
	[CHUNK_SAMPLES] = samples_take_chunk,
	[CHUNK_NAMES] = samples_take_chunk,
	[CHUNK_GIL] = samples_take_chunk,
	[CHUNK_SYSCALLS] = take_syscalls,
	[CHUNK_COUNTERS] = take_counters,
	[CHUNK_METRICS] = windows_take_chunk,
	[CHUNK_WINDOWS] = windows_take_chunk,
	[CHUNK_USAGE] = usage_take_chunk,
};

/* 0, also where it makes no sense, or -ENOMEM. */
static int chunk_take(struct model *model, const struct chunk *chunk)
{
	int r = chunk->kind < ARRAY_SIZE(takers) && takers[chunk->kind]
			? takers[chunk->kind](model, chunk)
			: 0;

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
		r = chunk_take(model, &chunk);
	read_ahead_stop(ahead);
	return r;
}

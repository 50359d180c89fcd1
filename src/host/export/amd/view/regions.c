/*
 * Regions and ranges of markers.  A region begins when the call that resumes has returned, and ends
 * when the one that pauses begins, as in AMD's tool; before the first of them nothing is wanted.
 */
#include "host/export/amd/view/regions.h"

#include "host/core/room.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int regions_init(struct regions *ret, const struct model *model,
		 const struct region_options *options)
{
	*ret = (struct regions){ .options = *options, .process_count = model->process_count };
	if (!options->is_selected)
		return 0;
	ret->processes = calloc(MAX(model->process_count, 1u), sizeof(*ret->processes));
	return ret->processes ? 0 : -ENOMEM;
}

void regions_done(struct regions *regions)
{
	for (uint32_t i = 0; regions->processes && i < regions->process_count; i++)
		free(regions->processes[i].changes);
	free(regions->processes);
	*regions = (struct regions){ 0 };
}

/* 1 resumes, -1 pauses, 0 does neither. */
static int change_of(const struct call *call)
{
	if (call->function->domain != DOMAIN_MARKER)
		return 0;
	if (!strcmp(call->function->name, "roctxProfilerResume"))
		return 1;
	return strcmp(call->function->name, "roctxProfilerPause") ? 0 : -1;
}

/* Calls of other threads may have been inserted: counts again from there. */
static void count_from(const struct regions *self, struct process_regions *process, size_t at)
{
	int64_t depth = at ? process->changes[at - 1].depth : 0;

	for (size_t i = at; i < process->count; i++) {
		struct region_change *change = &process->changes[i];

		depth = self->options.is_counted ? MAX(depth + change->change, (int64_t)0)
						 : change->change > 0;
		change->depth = depth;
	}
}

int regions_add(struct regions *self, const struct call *call)
{
	int change = self->options.is_selected ? change_of(call) : 0;
	struct process_regions *process;
	struct region_change added;
	size_t at;

	if (!change)
		return 0;
	process = &self->processes[call->process->number];
	if (make_room(&process->changes, process->count, &process->room, sizeof(added)))
		return -ENOMEM;
	added = (struct region_change){ change > 0 ? call->end_ns : call->begin_ns, change, 0 };
	for (at = process->count; at && process->changes[at - 1].time_ns > added.time_ns; at--)
		process->changes[at] = process->changes[at - 1];
	process->changes[at] = added;
	process->count++;
	count_from(self, process, at);
	return 0;
}

bool regions_want(const struct regions *self, const struct call *call)
{
	uint64_t cause = call_is_work(call) ? call_number(call, VALUE_CAUSE) : 0;
	const struct process_regions *process;
	uint64_t time_ns;
	size_t at;

	if (!self->options.is_selected)
		return true;
	if (self->options.hides_markers && call->function->domain == DOMAIN_MARKER)
		return false;
	process = &self->processes[call->process->number];
	time_ns = cause ? model_time_ns(call->model, cause) : call->begin_ns;
	for (at = process->count; at && process->changes[at - 1].time_ns > time_ns; at--)
		;
	/* The call that pauses begins where its region ends. */
	return at && process->changes[at - 1].depth > 0 && !change_of(call);
}

int range_history_init(struct range_history *ret, const struct model *model)
{
	*ret = (struct range_history){ .thread_count = model->thread_count };
	ret->threads = calloc(MAX(model->thread_count, 1u), sizeof(*ret->threads));
	if (!ret->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct model_thread *thread = model->threads[i];
		bool is_new;
		struct table_entry *entry = table_make(&ret->by_tid, thread->process->number,
						       (uint32_t)thread->tid, &is_new);

		if (!entry)
			return -ENOMEM;
		entry->value = i + 1u;
	}
	return 0;
}

void range_history_done(struct range_history *history)
{
	for (uint32_t i = 0; history->threads && i < history->thread_count; i++) {
		for (size_t j = 0; j < history->threads[i].count; j++)
			free(history->threads[i].items[j].text);
		free(history->threads[i].items);
	}
	free(history->threads);
	table_done(&history->by_tid);
	*history = (struct range_history){ 0 };
}

/* From a range outwards: the first that was still open then, as index and one. */
static size_t open_at(const struct thread_ranges *ranges, size_t index, uint64_t time_ns)
{
	while (index && ranges->items[index - 1].end_ns < time_ns)
		index = ranges->items[index - 1].outer;
	return index;
}

int range_history_add(struct range_history *history, const struct call *call)
{
	struct thread_ranges *ranges = &history->threads[call->thread->number];
	struct past_range range = { .begin_ns = call->begin_ns, .end_ns = call->end_ns };

	if (call->kind != CALL_RANGE || call->is_process_wide)
		return 0;
	if (make_room(&ranges->items, ranges->count, &ranges->room, sizeof(*ranges->items)))
		return -ENOMEM;
	range.outer = open_at(ranges, ranges->count, call->begin_ns);
	range.text = strdup(call_name(call));
	if (!range.text)
		return -ENOMEM;
	ranges->items[ranges->count++] = range;
	return 0;
}

static uint64_t begin_at(const void *items, size_t index)
{
	return ((const struct past_range *)items)[index].begin_ns;
}

const char *range_history_find(const struct range_history *history,
			       const struct model_process *process, uint64_t tid, uint64_t time_ns)
{
	const struct table_entry *entry =
		table_find(&history->by_tid, process->number, (uint32_t)tid);
	const struct thread_ranges *ranges = entry ? &history->threads[entry->value - 1] : NULL;
	size_t index = ranges ? count_up_to(ranges->items, ranges->count, time_ns, begin_at) : 0;

	index = ranges ? open_at(ranges, index, time_ns) : 0;
	return index ? ranges->items[index - 1].text : "";
}

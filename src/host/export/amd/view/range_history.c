/*
 * Remembers ranges.
 */
#include "host/export/amd/view/range_history.h"

#include "host/core/room.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

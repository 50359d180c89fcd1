/*
 * Opens perf events for the threads of a process.
 */
#include "host/sampling/copy/coverage.h"

#include <stdlib.h>

#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/procfs.h"

#define ROUNDS_MAX 16u /* readings of the list of threads, until none is new */

struct threads_seen {
	pid_t *items; /* ascending */
	size_t count;
};

static uint64_t seen_at(const void *items, size_t index)
{
	return (uint64_t)((const pid_t *)items)[index];
}

/* The number of threads that were new, or -errno. */
static int open_new(struct coverage *coverage, struct perf_events *events,
		    const struct threads_seen *before, const struct threads_seen *now, bool is_heir,
		    struct err *err)
{
	int count = 0;

	for (size_t i = 0; i < now->count; i++) {
		size_t index;
		int r;

		if (find_sorted(before->items, before->count, (uint64_t)now->items[i], seen_at,
				&index))
			continue;
		coverage->has_doubt |= before->count || is_heir;
		r = perf_events_add(events, now->items[i], err);
		if (r < 0)
			return r;
		count++;
	}
	return count;
}

int coverage_open(struct coverage *coverage, struct perf_events *events, pid_t pid, bool is_heir,
		  struct err *err)
{
	struct threads_seen before = { 0 };
	int r = 1;

	for (unsigned round = 0; r > 0 && round < ROUNDS_MAX; round++) {
		struct threads_seen now = { 0 };

		r = proc_list(pid, "task", &now.items, &now.count, err);
		if (!r)
			r = open_new(coverage, events, &before, &now, is_heir, err);
		free(before.items);
		before = now;
	}
	free(before.items);
	perf_events_sort(events);
	return r < 0 ? r : 0;
}

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct owned *)items)[index].tid;
}

bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id)
{
	const struct perf_event *event;
	size_t index;

	if (!coverage->has_doubt)
		return true;
	event = perf_events_find(events, id);
	if (find_sorted(coverage->items, coverage->count, (uint64_t)tid, tid_at, &index))
		return event && coverage->items[index].owner == event->tid;
	/* Without memory the sample may count twice, which is better than not at all. */
	if (event && !insert_room(&coverage->items, &coverage->count, &coverage->room,
				  sizeof(*coverage->items), index))
		coverage->items[index] = (struct owned){ tid, event->tid };
	return true;
}

void coverage_forget(struct coverage *coverage, pid_t tid)
{
	size_t index;

	if (find_sorted(coverage->items, coverage->count, (uint64_t)tid, tid_at, &index))
		remove_item(coverage->items, &coverage->count, sizeof(*coverage->items), index);
}

void coverage_done(struct coverage *coverage)
{
	free(coverage->items);
	*coverage = (struct coverage){ 0 };
}

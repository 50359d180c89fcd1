/*
 * Opens perf events for the threads of a process.
 */
#include "host/sampling/copy/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/process/procfs.h"

#define ROUNDS_MAX 16u /* readings of the list of threads, until none is new */

struct threads_seen {
	pid_t *items; /* ascending */
	size_t count;
};

static int compare_tids(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

static bool was_seen(const struct threads_seen *seen, pid_t tid)
{
	return seen->count &&
	       bsearch(&tid, seen->items, seen->count, sizeof(tid), compare_tids) != NULL;
}

/* The number of threads that were new, or -errno. */
static int open_new(struct coverage *coverage, struct perf_events *events,
		    const struct threads_seen *before, const struct threads_seen *now, bool is_heir,
		    struct err *err)
{
	int count = 0;

	for (size_t i = 0; i < now->count; i++) {
		int r;

		if (was_seen(before, now->items[i]))
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

/* The index of the first one that is not below tid. */
static size_t index_of(const struct coverage *coverage, pid_t tid)
{
	size_t low = 0, high = coverage->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (coverage->items[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct coverage *coverage, size_t index, pid_t tid)
{
	return index < coverage->count && coverage->items[index].tid == tid;
}

static int coverage_insert(struct coverage *coverage, size_t index, struct owned owned)
{
	int r = make_room(&coverage->items, coverage->count, &coverage->room, sizeof(owned));

	if (r < 0)
		return r;
	memmove(coverage->items + index + 1, coverage->items + index,
		(coverage->count - index) * sizeof(owned));
	coverage->items[index] = owned;
	coverage->count++;
	return 0;
}

bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id)
{
	const struct perf_event *event;
	size_t index;

	if (!coverage->has_doubt)
		return true;
	event = perf_events_find(events, id);
	index = index_of(coverage, tid);
	if (is_at(coverage, index, tid))
		return event && coverage->items[index].owner == event->tid;
	/* Without memory the sample may count twice, which is better than not at all. */
	if (event)
		(void)!coverage_insert(coverage, index, (struct owned){ tid, event->tid });
	return true;
}

void coverage_forget(struct coverage *coverage, pid_t tid)
{
	size_t index = index_of(coverage, tid);

	if (!is_at(coverage, index, tid))
		return;
	coverage->count--;
	memmove(coverage->items + index, coverage->items + index + 1,
		(coverage->count - index) * sizeof(*coverage->items));
}

void coverage_done(struct coverage *coverage)
{
	free(coverage->items);
	*coverage = (struct coverage){ 0 };
}

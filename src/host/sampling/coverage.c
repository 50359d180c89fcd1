/*
 * Opens perf events for the threads of a process.  Host only.
 */
#include "host/sampling/coverage.h"

#include <errno.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/process/procfs.h"

#define ROUNDS_MAX 16u /* looks at the list of threads, until there is no new one */

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

static int doubt(struct coverage *coverage, pid_t tid)
{
	int r = make_room(&coverage->items, coverage->count, &coverage->room,
			  sizeof(*coverage->items));

	if (!r)
		coverage->items[coverage->count++] = (struct doubtful){ .tid = tid };
	return r;
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
		if ((before->count || is_heir) && doubt(coverage, now->items[i]) < 0)
			return err_set(err, -ENOMEM, "no memory for threads");
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

static struct doubtful *find(const struct coverage *coverage, pid_t tid)
{
	for (size_t i = 0; i < coverage->count; i++)
		if (coverage->items[i].tid == tid)
			return &coverage->items[i];
	return NULL;
}

bool coverage_counts(struct coverage *coverage, const struct perf_events *events, pid_t tid,
		     uint64_t id)
{
	struct doubtful *thread = coverage->count ? find(coverage, tid) : NULL;
	const struct perf_event *event;
	pid_t owner;

	if (!thread)
		return true;
	event = perf_events_find(events, id);
	owner = event ? event->tid : 0;
	if (!thread->owner)
		thread->owner = owner;
	return thread->owner == owner;
}

void coverage_forget(struct coverage *coverage, pid_t tid)
{
	struct doubtful *thread = coverage->count ? find(coverage, tid) : NULL;

	if (thread)
		*thread = coverage->items[--coverage->count];
}

void coverage_done(struct coverage *coverage)
{
	free(coverage->items);
	*coverage = (struct coverage){ 0 };
}

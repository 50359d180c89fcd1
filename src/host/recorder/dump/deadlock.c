/*
 * Finds circles of waiting threads.  Threads are read one after the other, so the edges need not
 * have existed at the same time: they did if no thread of the circle ran between two readings.
 */
#include "host/recorder/dump/deadlock.h"

#include "host/core/cleanup.h"
#include "host/process/stat.h"
#include "host/recorder/dump/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define PAUSE_NS 30000000
#define NOBODY   SIZE_MAX

struct edge {
	size_t holder; /* the index of the thread that holds the lock; NOBODY */
	uint64_t lock, turns;
};

static size_t index_of(const struct threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->items[i].tid == tid)
			return i;
	return NOBODY;
}

static struct edge look_at(pid_t pid, const struct threads *threads, size_t i)
{
	struct edge edge = { .holder = NOBODY };
	struct schedstat times;
	struct waiting waiting;

	if (schedstat_read(pid, threads->items[i].tid, &times))
		return edge;
	waiting_look(pid, threads->items[i].tid, threads, &waiting);
	if (!waiting.holder || waiting.has_limit)
		return edge;
	return (struct edge){ index_of(threads, waiting.holder), waiting.lock, times.turns };
}

/* The index of a thread in a circle; NOBODY: there is none.  A thread that only leads into a circle
 * is not in it. */
static size_t find_circle(const struct edge *edges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = edges[i].holder;

		for (size_t steps = 0; steps < count && at != NOBODY && at != i; steps++)
			at = edges[at].holder;
		if (at == i)
			return i;
	}
	return NOBODY;
}

static bool is_same(pid_t pid, const struct threads *threads, const struct edge *edges,
		    size_t first)
{
	size_t at = first;

	do {
		struct edge now = look_at(pid, threads, at);

		if (now.holder != edges[at].holder || now.lock != edges[at].lock ||
		    now.turns != edges[at].turns)
			return false;
		at = edges[at].holder;
	} while (at != first);
	return true;
}

static int circle_keep(const struct edge *edges, size_t first, struct deadlock *ret)
{
	size_t at = first, count = 0;

	do {
		count++;
		at = edges[at].holder;
	} while (at != first);
	ret->items = calloc(count, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (; ret->count < count; at = edges[at].holder)
		ret->items[ret->count++] = (struct deadlocked){ at, edges[at].lock };
	return 0;
}

int deadlock_find(pid_t pid, const struct threads *threads, struct deadlock *ret)
{
	CLEANUP(free) struct edge *edges = calloc(threads->count + 1, sizeof(*edges));
	size_t first;

	*ret = (struct deadlock){ 0 };
	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < threads->count; i++)
		edges[i] = look_at(pid, threads, i);
	first = find_circle(edges, threads->count);
	if (first == NOBODY)
		return 0;
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	return is_same(pid, threads, edges, first) ? circle_keep(edges, first, ret) : 0;
}

void deadlock_done(struct deadlock *deadlock)
{
	free(deadlock->items);
	*deadlock = (struct deadlock){ 0 };
}

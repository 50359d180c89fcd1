/*
 * Counts how often threads get a processor.
 */
#include "host/sampling/bpf/switch_rate.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#include <stdlib.h>

/* Of processes, and of threads of each, about. */
#define LOOKED_AT 256u
#define SECOND_NS 1000000000u
#define LEAST_NS  20000000u /* between readings: less is too inexact */

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct thread_turns *)items)[index].tid;
}

static int tid_compare(const void *left, const void *right)
{
	const struct thread_turns *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Reads some threads of a process; the same ones at the next reading. */
static void read_process(struct switch_rate *rate, pid_t pid, uint64_t stands_for)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct err err = { 0 };
	struct schedstat stat;
	size_t count = 0;
	uint64_t step;

	(void)!proc_list(pid, "task", &tids, &count, &err);
	step = 1 + count / LOOKED_AT;
	for (size_t i = 0; i < count; i++) {
		if ((uint64_t)tids[i] % step || schedstat_read(pid, tids[i], &stat) < 0)
			continue;
		if (make_room(&rate->items, rate->count, &rate->room, sizeof(*rate->items)))
			return;
		rate->items[rate->count++] = (struct thread_turns){
			.tid = tids[i], .turns = stat.turns, .stands_for = step * stands_for
		};
	}
}

static uint64_t count_turns(const struct switch_rate *before, const struct switch_rate *now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct thread_turns *thread = &now->items[i];
		size_t index;

		if (find_sorted(before->items, before->count, (uint64_t)thread->tid, tid_at,
				&index) &&
		    before->items[index].turns < thread->turns)
			sum += (thread->turns - before->items[index].turns) * thread->stands_for;
	}
	return sum;
}

uint64_t switch_rate_read(struct switch_rate *rate, const pid_t *pids, size_t count)
{
	struct switch_rate now = { .looked_ns = now_ns() };
	uint64_t elapsed = now.looked_ns - rate->looked_ns, step = 1 + count / LOOKED_AT, turns;

	if (rate->looked_ns && elapsed < LEAST_NS)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (!((uint64_t)pids[i] % step))
			read_process(&now, pids[i], step);
	if (now.count)
		qsort(now.items, now.count, sizeof(*now.items), tid_compare);
	turns = count_turns(rate, &now);
	switch_rate_done(rate);
	*rate = now;
	return turns * SECOND_NS / elapsed;
}

void switch_rate_done(struct switch_rate *rate)
{
	free(rate->items);
	*rate = (struct switch_rate){ 0 };
}

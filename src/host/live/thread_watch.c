/*
 * Polls the threads.
 */
#include "host/live/thread_watch.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/sorted.h"
#include "host/live/live.h"
#include "host/live/source.h"
#include "host/process/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct thread *)items)[index].tid;
}

static const struct thread *thread_find(const struct threads *threads, pid_t tid)
{
	size_t index;

	return find_sorted(threads->items, threads->count, (uint64_t)tid, tid_at, &index)
		       ? &threads->items[index]
		       : NULL;
}

/* Processor time is counted in hundredths of a second. */
static double percent_since(const struct thread_watch *watch, const struct thread *now,
			    uint64_t at_ns)
{
	const struct thread *then = thread_find(&watch->threads, now->tid);

	if (!then || at_ns <= watch->looked_ns || now->cpu_ns < then->cpu_ns)
		return -1;
	return 100 * (double)(now->cpu_ns - then->cpu_ns) / (double)(at_ns - watch->looked_ns);
}

/* More exact than the sum of all threads, each of which is rounded down. */
static void processes_poll(const struct thread_watch *before, struct thread_watch *now,
			   const pid_t *pids, size_t count)
{
	struct process_stat stat;
	struct err ignored;

	for (size_t i = 0; i < count; i++)
		if (!stat_read(pids[i], /* tid */ 0, &stat, &ignored))
			now->cpu_ns += stat.cpu_ns;
	if (before->looked_ns && now->cpu_ns >= before->cpu_ns)
		now->percent = 100 * (double)(now->cpu_ns - before->cpu_ns) /
			       (double)(now->looked_ns - before->looked_ns);
}

void thread_watch_end(struct thread_watch *watch)
{
	watch->has_ended = true;
	watch->percent = 0;
	for (size_t i = 0; i < watch->threads.count; i++) {
		watch->threads.items[i].state = '\0';
		watch->percents[i] = 0;
	}
}

static int by_number(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Python's names may be longer than the kernel's. */
static void thread_name(struct thread *thread, struct live *live, struct source *source, pid_t pid)
{
	struct watched_thread watched;
	bool is_known = source_python_thread(source, pid, thread->tid, &watched) && watched.name[0];

	live_rename(live, thread->tid, is_known ? watched.name : thread->name);
	if (is_known)
		snprintf(thread->name, sizeof(thread->name), "%.*s", (int)sizeof(thread->name) - 1,
			 watched.name);
}

/* Of a process that has just ended there are none. */
static void add_threads(struct threads *all, struct live *live, struct source *source, pid_t pid)
{
	CLEANUP(threads_done) struct threads more = { 0 };
	struct thread *longer;
	struct err ignored;

	if (threads_read(pid, &more, &ignored))
		return;
	for (size_t i = 0; i < more.count; i++)
		thread_name(&more.items[i], live, source, pid);
	longer = reallocarray(all->items, all->count + more.count + 1, sizeof(*longer));
	if (!longer)
		return;
	memcpy(longer + all->count, more.items, more.count * sizeof(*longer));
	all->items = longer;
	all->count += more.count;
}

void thread_watch_poll(struct thread_watch *watch, struct live *live, struct source *source,
		       const pid_t *pids, size_t count)
{
	struct thread_watch now = { .looked_ns = now_ns(), .never_ends = watch->never_ends };

	if (watch->has_ended)
		return;
	for (size_t i = 0; i < count; i++)
		add_threads(&now.threads, live, source, pids[i]);
	if (!now.threads.count && !watch->never_ends) {
		threads_done(&now.threads);
		thread_watch_end(watch);
		return;
	}
	if (now.threads.count)
		qsort(now.threads.items, now.threads.count, sizeof(*now.threads.items), by_number);
	now.percents = calloc(now.threads.count + 1, sizeof(*now.percents));
	if (!now.percents) {
		threads_done(&now.threads);
		return;
	}
	for (size_t i = 0; i < now.threads.count; i++)
		now.percents[i] = percent_since(watch, &now.threads.items[i], now.looked_ns);
	processes_poll(watch, &now, pids, count);
	thread_watch_done(watch);
	*watch = now;
}

void thread_watch_done(struct thread_watch *watch)
{
	threads_done(&watch->threads);
	free(watch->percents);
	watch->percents = NULL;
}

/*
 * Adds up how threads spend their time.
 */
#include "host/sampling/proc/thread_times.h"

#include "host/core/room.h"
#include "host/core/sorted.h"

#include <stdlib.h>

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct thread_time *)items)[index].tid;
}

static bool find_thread(const struct thread_times *times, pid_t tid, size_t *ret_index)
{
	return find_sorted(times->items, times->count, (uint64_t)tid, tid_at, ret_index);
}

struct thread_time *thread_times_find(const struct thread_times *times, pid_t tid)
{
	size_t index;

	return find_thread(times, tid, &index) ? &times->items[index] : NULL;
}

struct thread_time *thread_times_add(struct thread_times *times, const struct thread_time *first)
{
	size_t index;

	(void)find_thread(times, first->tid, &index);
	if (insert_room(&times->items, &times->count, &times->room, sizeof(*first), index))
		return NULL;
	times->items[index] = *first;
	return &times->items[index];
}

void thread_times_sweep(struct thread_times *times, uint64_t since_ns,
			void (*gone)(void *context, struct thread_time *time), void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < times->count; i++) {
		if (times->items[i].seen_ns >= since_ns)
			times->items[kept++] = times->items[i];
		else
			gone(context, &times->items[i]);
	}
	times->count = kept;
}

void thread_times_done(struct thread_times *times)
{
	free(times->items);
	*times = (struct thread_times){ 0 };
}

/* The kernel adds the time in a queue when the thread gets a processor: unexplained time of a
 * runnable thread may be that, and is explained later. */
void thread_time_poll(struct thread_time *time, const struct schedstat *now, uint64_t now_ns,
		      char state)
{
	uint64_t run_ns = now->run_ns - MIN(now->run_ns, time->last.run_ns);
	uint64_t wait_ns = now->wait_ns - MIN(now->wait_ns, time->last.wait_ns);

	time->owed_ns[SAMPLE_RUNNING] += run_ns;
	time->owed_ns[SAMPLE_RUNNABLE] += wait_ns;
	time->unexplained_ns += (int64_t)(now_ns - time->seen_ns) - (int64_t)(run_ns + wait_ns);
	if (state != 'R' && time->unexplained_ns > 0) {
		time->owed_ns[SAMPLE_BLOCKED] += (uint64_t)time->unexplained_ns;
		time->unexplained_ns = 0;
	}
	time->last = *now;
	time->seen_ns = now_ns;
	time->state = state;
}

void thread_time_end(struct thread_time *time)
{
	if (time->unexplained_ns > 0)
		time->owed_ns[SAMPLE_RUNNABLE] += (uint64_t)time->unexplained_ns;
	time->unexplained_ns = 0;
}

/*
 * Prepares the kernel for opening many clocks.
 */
#include "host/sampling/bpf/clock_room.h"

#include "host/core/cleanup.h"
#include "host/core/threads/quiet_thread.h"
#include "host/process/procfs.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHERS 256 /* descriptors besides those of clocks */

/* For a thread, as the clocks are: the first such event in the whole system is slow to open. */
static int open_event(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* At once: else the descriptor table grows, and waits (RCU), at each power of two. */
static void make_descriptors(int fd, pid_t pid)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct err err = { 0 };
	size_t count;
	int last;

	if (proc_list(pid, "task", &tids, &count, &err))
		return;
	last = fcntl(fd, F_DUPFD_CLOEXEC, (int)MIN(count, 1u << 16) + OTHERS);
	if (last >= 0)
		close(last);
}

static void *clock_room_prepare(void *argument)
{
	struct clock_room *room = argument;

	room->event = open_event();
	if (room->event >= 0)
		make_descriptors(room->event, room->pid);
	return NULL;
}

void clock_room_begin(struct clock_room *room, pid_t pid)
{
	*room = (struct clock_room){ .pid = pid, .event = -1 };
	room->is_running = !quiet_thread(&room->thread, clock_room_prepare, room);
}

void clock_room_await(struct clock_room *room)
{
	if (room->is_running)
		pthread_join(room->thread, NULL);
	room->is_running = false;
}

void clock_room_done(struct clock_room *room)
{
	clock_room_await(room);
	if (room->event >= 0)
		close(room->event);
	room->event = -1;
}

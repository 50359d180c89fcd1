/*
 * Opens perf events on threads while more threads start.
 */
#include "host/sampling/bpf/thread_clocks.h"

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/core/threads/quiet_thread.h"
#include "host/process/procfs.h"
#include "host/sampling/processors.h"
#include "shared/wire/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#define SCANS_MAX         16  /* for threads that start while clocks are opened */
#define OTHER_DESCRIPTORS 256 /* besides those of clocks */

static int thread_clocks_keep(struct thread_clocks *clocks, int fd)
{
	int r = make_room(&clocks->descriptors, clocks->count, &clocks->room, sizeof(int));

	if (r) {
		close(fd);
		return r;
	}
	clocks->descriptors[clocks->count++] = fd;
	return 0;
}

/* With a cookie, by which the program distinguishes it; those of processors may be held. */
static int marked_clock_start(struct thread_clocks *clocks, int fd, uint64_t cookie)
{
	const struct bpf_link_create_opts options = { .sz = sizeof(options),
						      .perf_event.bpf_cookie = cookie };
	int link = bpf_link_create(clocks->options.program, fd, BPF_PERF_EVENT, &options);
	bool is_held = cookie == KERNEL_COOKIE_PROCESSOR && clocks->options.is_held;

	if (link < 0)
		return link;
	if (!is_held && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		close(link);
		return -errno;
	}
	return thread_clocks_keep(clocks, link);
}

static int clock_start(struct thread_clocks *clocks, int fd, pid_t tid, bool is_second)
{
	uint32_t key = (uint32_t)tid;
	uint64_t none = 0;

	if (tid < 0)
		return marked_clock_start(clocks, fd, KERNEL_COOKIE_PROCESSOR);
	if (is_second) {
		/* The program learns of it before there is a second clock that others could
		 * inherit. */
		bpf_map_update_elem(clocks->options.inherited_events, &key, &none, BPF_NOEXIST);
		return marked_clock_start(clocks, fd, key);
	}
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, clocks->options.program) ||
			       ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)
		       ? -errno
		       : 0;
}

/* A thread that has ended needs none.  Where child processes inherit clocks (before Linux 5.13),
 * the program filters them out. */
static int add_clock(struct thread_clocks *clocks, pid_t tid, int cpu, bool is_second)
{
	const struct thread_clocks_options *options = &clocks->options;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
		.inherit = options->is_inherited && tid >= 0,
		.inherit_thread = options->is_inherited && tid >= 0 && !options->with_children,
	};
	uint64_t longer_ns = is_second ? 1 + *options->scans % KERNEL_PERIODS : 0;
	int r, fd;

	event_count(options->event, options->period_ns + longer_ns, &attr);
	fd = event_open(&attr, tid, cpu);
	if (fd < 0)
		return fd == -ESRCH && cpu < 0 ? 0 : fd;
	r = clock_start(clocks, fd, tid, is_second);
	if (r) {
		close(fd);
		return r;
	}
	return thread_clocks_keep(clocks, fd);
}

static uint64_t tid_at(const void *tids, size_t index)
{
	return (uint64_t)((const pid_t *)tids)[index];
}

/* Threads of the first scan existed before the first clock: they have inherited none, except from
 * another process.  New threads of a later scan may have.  A thread never inherits from a clock
 * that was opened by the same scan as its own.  1: there were new ones. */
static int scan_threads(struct thread_clocks *clocks, bool is_first, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count;
	bool is_second = !is_first || clocks->options.is_heir;
	int is_new = 0, r = proc_list(clocks->options.pid, "task", &tids, &count, err);

	if (r)
		return r;
	if (count > THREAD_CLOCKS_MAX)
		return err_set(err, -EMFILE, "%zu threads", count);
	if (is_second)
		++*clocks->options.scans;
	for (size_t i = 0; i < count; i++) {
		size_t index;

		if (find_sorted(clocks->tids, clocks->tid_count, (uint64_t)tids[i], tid_at, &index))
			continue;
		is_new = 1;
		r = add_clock(clocks, tids[i], -1, is_second);
		if (r)
			return err_set(err, r, "opening the clock of thread %d: %s", tids[i],
				       strerror(-r));
	}
	free(clocks->tids);
	clocks->tids = TAKE(tids);
	clocks->tid_count = count;
	return is_new;
}

/* Threads that end after the first scan may leave children with their clocks. */
static int open_each_thread(struct thread_clocks *clocks, struct err *err)
{
	int r = scan_threads(clocks, true, err);

	for (int i = 0; i < SCANS_MAX && r > 0 && clocks->options.is_inherited; i++)
		r = scan_threads(clocks, false, err);
	return r == -ESRCH && clocks->count ? 0 : MIN(r, 0);
}

static int open_each_processor(struct thread_clocks *clocks, struct err *err)
{
	int cpus[PROCESSORS_MAX], r;
	size_t count = processors_online(cpus, ARRAY_SIZE(cpus));

	thread_clocks_close(clocks);
	clocks->is_per_processor = true;
	for (size_t i = 0; i < count; i++) {
		r = add_clock(clocks, -1, cpus[i], false);
		if (r && r != -ENODEV)
			return err_set(err, r, "opening the clock of CPU %d: %s", cpus[i],
				       strerror(-r));
	}
	return 0;
}

int thread_clocks_open(struct thread_clocks *ret, const struct thread_clocks_options *options,
		       struct err *err)
{
	int r;

	*ret = (struct thread_clocks){ .options = *options };
	descriptors_raise_limit();
	r = options->is_per_processor ? -EMFILE : open_each_thread(ret, err);
	if (r == -EMFILE) {
		*err = (struct err){ 0 };
		r = open_each_processor(ret, err);
	}
	if (r)
		thread_clocks_close(ret);
	return r;
}

int thread_clocks_open_one(struct thread_clocks *clocks, pid_t tid, struct err *err)
{
	int r = add_clock(clocks, tid, -1, false);

	return r ? err_set(err, r, "opening the clock of thread %d: %s", tid, strerror(-r)) : 0;
}

/* Some descriptors are links, for which this ioctl fails. */
void thread_clocks_switch(const struct thread_clocks *clocks, bool is_on)
{
	unsigned long order = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < clocks->count; i++)
		ioctl(clocks->descriptors[i], order, 0);
}

void thread_clocks_close(struct thread_clocks *clocks)
{
	for (size_t i = 0; i < clocks->count; i++)
		close(clocks->descriptors[i]);
	free(clocks->descriptors);
	free(clocks->tids);
	clocks->descriptors = NULL;
	clocks->tids = NULL;
	clocks->count = clocks->room = clocks->tid_count = 0;
}

/* For a thread, as the clocks are: the first such event in the whole system is slow to open.  All
 * descriptors at once: else the descriptor table grows, and waits (RCU), at each power of two. */
static void *clock_room_prepare(void *argument)
{
	const struct perf_event_attr attr = { .size = sizeof(attr),
					      .type = PERF_TYPE_SOFTWARE,
					      .config = PERF_COUNT_SW_DUMMY,
					      .exclude_kernel = 1 };
	struct clock_room *room = argument;
	CLEANUP(free) pid_t *tids = NULL;
	struct err err = { 0 };
	size_t count;
	int last;

	room->event = event_open(&attr, 0, -1);
	if (room->event < 0 || proc_list(room->pid, "task", &tids, &count, &err))
		return NULL;
	last = fcntl(room->event, F_DUPFD_CLOEXEC, (int)MIN(count, 1u << 16) + OTHER_DESCRIPTORS);
	if (last >= 0)
		close(last);
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

/*
 * Opens perf events on threads while more threads start.
 */
#include "host/sampling/bpf/thread_clocks.h"

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/procfs.h"
#include "host/sampling/processors.h"
#include "shared/wire/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define LOOKS_MAX 16 /* for threads that start while clocks are opened */

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Before Linux 5.13 a clock is inherited by child processes: the program filters them out then. */
static int clock_open(const struct thread_clocks_options *options, pid_t tid, int cpu,
		      uint64_t longer_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
		.inherit = options->is_inherited && tid >= 0,
		.inherit_thread = options->is_inherited && tid >= 0 && !options->with_children,
	};
	int fd;

	event_count(options->event, options->period_ns + longer_ns, &attr);
	fd = event_open(&attr, tid, cpu);
	if (fd < 0 && errno == EINVAL && attr.inherit_thread) {
		attr.inherit_thread = 0;
		fd = event_open(&attr, tid, cpu);
	}
	return fd < 0 ? -errno : fd;
}

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

static int clock_start(const struct thread_clocks *clocks, int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, clocks->options.program) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
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

/* The program learns of it before there is a second clock that others could inherit. */
static int second_clock_start(struct thread_clocks *clocks, int fd, pid_t tid)
{
	uint32_t key = (uint32_t)tid;
	uint64_t none = 0;

	bpf_map_update_elem(clocks->options.inherited_events, &key, &none, BPF_NOEXIST);
	return marked_clock_start(clocks, fd, key);
}

/* A thread that has ended needs none. */
static int add_clock(struct thread_clocks *clocks, pid_t tid, int cpu, bool is_second)
{
	uint64_t longer_ns = is_second ? 1 + *clocks->options.looks % KERNEL_PERIODS : 0;
	int r, fd = clock_open(&clocks->options, tid, cpu, longer_ns);

	if (fd < 0)
		return fd == -ESRCH && cpu < 0 ? 0 : fd;
	r = is_second  ? second_clock_start(clocks, fd, tid)
	    : tid >= 0 ? clock_start(clocks, fd)
		       : marked_clock_start(clocks, fd, KERNEL_COOKIE_PROCESSOR);
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

static bool has_clock(const struct thread_clocks *clocks, pid_t tid)
{
	size_t index = count_below(clocks->tids, clocks->tid_count, (uint64_t)tid, tid_at);

	return index < clocks->tid_count && clocks->tids[index] == tid;
}

/* Threads of the first scan existed before the first clock: they have inherited none, except from
 * another process.  New threads of a later scan may have.  A thread never inherits from a clock
 * that was opened by the same scan as its own.  1: there were new ones. */
static int thread_clocks_look(struct thread_clocks *clocks, bool is_first, struct err *err)
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
		++*clocks->options.looks;
	for (size_t i = 0; i < count; i++) {
		if (has_clock(clocks, tids[i]))
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
	int r = thread_clocks_look(clocks, true, err);

	for (int i = 0; i < LOOKS_MAX && r > 0 && clocks->options.is_inherited; i++)
		r = thread_clocks_look(clocks, false, err);
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

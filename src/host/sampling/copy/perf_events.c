/*
 * Opens perf events.
 */
#include "host/sampling/copy/perf_events.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"
#include "host/process/rights/rights.h"
#include "host/sampling/event.h"
#include "host/sampling/processors.h"

#define RING_MOST    ((size_t)16 << 20)
#define RING_LEAST   ((size_t)128 << 10) /* two of the largest records */
#define RINGS_BUDGET ((size_t)64 << 20)
#define RINGS_WAITED PROCESSORS_MAX
#define STEP_NS      2000000

/* Halved until it fits what a user may lock (kernel.perf_event_mlock_kb). */
static int map_ring(struct perf_ring *ring, size_t most)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t size = most; size >= RING_LEAST; size /= 2) {
		void *address =
			mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

		if (address != MAP_FAILED) {
			ring->page = address;
			ring->size = size;
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			return -errno;
	}
	return -EPERM;
}

/* The event that owns a ring never counts: other events write into it. */
static int open_ring(struct perf_ring *ring, const struct perf_event_attr *attr, pid_t pid,
		     size_t most, struct err *err)
{
	struct perf_event_attr owner = *attr;
	int r;

	owner.inherit = owner.inherit_thread = 0;
	owner.mmap = owner.mmap2 = owner.comm = owner.comm_exec = owner.task = 0;
	owner.context_switch = 0;
	ring->fd = event_open(&owner, pid, ring->cpu);
	if (ring->fd == -ENODEV) /* the processor went offline meanwhile */
		return 0;
	if (ring->fd < 0)
		return ring->fd == -ESRCH ? proc_error(pid, "task", -ESRCH, err)
					  : perf_access_explain(ring->fd, err);
	r = map_ring(ring, most);
	if (r == -EPERM) {
		err_set(err, r, "no room for the rings of perf events");
		return err_fix(err, "ulimit -l unlimited, or: sysctl "
				    "kernel.perf_event_mlock_kb=2048");
	}
	return r < 0 ? err_set(err, r, "map the ring of a perf event: %s", strerror(-r)) : 0;
}

int perf_events_init(struct perf_events *ret, const struct perf_attrs *attrs, pid_t pid,
		     struct err *err)
{
	int cpus[PROCESSORS_MAX], r = 0;
	size_t count = processors_online(cpus, ARRAY_SIZE(cpus)), size = RING_MOST;

	/* A power of two, which the kernel requires. */
	while (size * count > RINGS_BUDGET && size > RING_LEAST)
		size /= 2;
	*ret = (struct perf_events){ .attrs = *attrs };
	descriptors_raise_limit();
	ret->rings = calloc(count, sizeof(*ret->rings));
	if (!ret->rings)
		return err_set(err, -ENOMEM, "no memory for rings");
	ret->ring_count = count;
	for (size_t i = 0; i < count; i++)
		ret->rings[i] = (struct perf_ring){ .cpu = cpus[i], .fd = -1 };
	for (size_t i = 0; !r && i < count; i++)
		r = open_ring(&ret->rings[i], &attrs->items[0], pid, size, err);
	if (r < 0)
		perf_events_done(ret);
	return r;
}

static int add_one(struct perf_events *events, pid_t tid, unsigned which,
		   const struct perf_ring *ring)
{
	struct perf_event event = { .tid = tid, .which = which };
	int r = make_room(&events->items, events->count, &events->room, sizeof(event));

	if (r < 0)
		return r;
	event.fd = event_open(&events->attrs.items[which], tid, ring->cpu);
	if (event.fd < 0)
		return event.fd;
	if (ioctl(event.fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ||
	    ioctl(event.fd, PERF_EVENT_IOC_ID, &event.id) < 0) {
		r = -errno;
		close(event.fd);
		return r;
	}
	events->items[events->count++] = event;
	return 0;
}

/* A processor without a ring has no events. */
int perf_events_add(struct perf_events *events, pid_t tid, struct err *err)
{
	for (size_t i = 0; i < events->ring_count; i++)
		for (unsigned which = 0; which < events->attrs.count; which++) {
			int r = events->rings[i].page
					? add_one(events, tid, which, &events->rings[i])
					: 0;

			if (r == -ESRCH)
				return 0;
			if (r < 0)
				return perf_access_explain(r, err);
		}
	return 0;
}

struct perf_events perf_events_beside(const struct perf_events *events,
				      const struct perf_attrs *attrs)
{
	return (struct perf_events){ .attrs = *attrs,
				     .rings = events->rings,
				     .ring_count = events->ring_count };
}

void perf_events_close(struct perf_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->items[i].fd);
	free(events->items);
	events->items = NULL;
	events->count = events->room = 0;
}

void perf_events_drop_last(struct perf_events *events)
{
	size_t kept = 0;

	events->attrs.count--;
	for (size_t i = 0; i < events->count; i++) {
		if (events->items[i].which == events->attrs.count)
			close(events->items[i].fd);
		else
			events->items[kept++] = events->items[i];
	}
	events->count = kept;
}

static int compare_ids(const void *left, const void *right)
{
	const struct perf_event *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

void perf_events_sort(struct perf_events *events)
{
	if (events->count)
		qsort(events->items, events->count, sizeof(*events->items), compare_ids);
}

void perf_events_switch(struct perf_events *events, bool is_on)
{
	unsigned long order = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < events->count; i++)
		ioctl(events->items[i].fd, order, 0);
}

uint64_t perf_events_lost(const struct perf_events *events)
{
	uint64_t sum = 0, words[2]; /* the count, and PERF_FORMAT_LOST */

	for (size_t i = 0; i < events->count; i++)
		if (read(events->items[i].fd, words, sizeof(words)) == sizeof(words))
			sum += words[1];
	return sum;
}

const struct perf_event *perf_events_find(const struct perf_events *events, uint64_t id)
{
	const struct perf_event key = { .id = id };

	if (!events->count)
		return NULL;
	return bsearch(&key, events->items, events->count, sizeof(key), compare_ids);
}

size_t perf_events_ring_size(const struct perf_events *events)
{
	size_t size = 0;

	for (size_t i = 0; i < events->ring_count; i++)
		if (events->rings[i].page && (!size || events->rings[i].size < size))
			size = events->rings[i].size;
	return size;
}

void perf_events_wait(const struct perf_events *events, int limit_ms)
{
	struct pollfd waits[RINGS_WAITED];
	nfds_t count = 0;

	for (size_t i = 0; i < events->ring_count && count < RINGS_WAITED; i++)
		if (events->rings[i].page)
			waits[count++] =
				(struct pollfd){ .fd = events->rings[i].fd, .events = POLLIN };
	if (poll(waits, count, limit_ms) <= 0)
		return;
	/* The first thread of the process has ended, and with it the events that own the rings. */
	for (nfds_t i = 0; i < count; i++)
		if (waits[i].revents & ~POLLIN) {
			nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
			return;
		}
}

void perf_events_done(struct perf_events *events)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	perf_events_close(events);
	for (size_t i = 0; i < events->ring_count; i++) {
		if (events->rings[i].page)
			munmap(events->rings[i].page, events->rings[i].size + page);
		if (events->rings[i].fd >= 0)
			close(events->rings[i].fd);
	}
	free(events->rings);
	*events = (struct perf_events){ 0 };
}

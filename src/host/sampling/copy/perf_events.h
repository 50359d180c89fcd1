/*
 * One perf event for each thread and processor, and one ring for each processor.  Threads and
 * processes started later inherit them.  Closing them ends sampling.
 */
#pragma once

#include "host/core/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

struct perf_event {
	int fd;
	pid_t tid;      /* the thread it was opened for; others inherit it */
	unsigned which; /* index of its attributes */
	uint64_t id;
};

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: this processor has none (yet) */
	size_t size;                       /* of the data behind the page */
	int cpu;
	int fd; /* the event that owns it: open as long as the ring */
};

#define PERF_ATTRS_MAX 2u

struct perf_attrs {
	struct perf_event_attr items[PERF_ATTRS_MAX]; /* each thread gets an event of each */
	unsigned count;
};

struct perf_events {
	struct perf_attrs attrs;
	struct perf_event *items; /* ascending ids, once sorted */
	size_t count, room;
	struct perf_ring *rings;
	size_t ring_count;
};

/* Makes the rings.  -EPERM, -EACCES, -ENOSYS as from perf_event_open(). */
int perf_events_init(struct perf_events *ret, const struct perf_attrs *attrs, pid_t pid,
		     struct err *err) MUST_CHECK;
/* Adds events for a thread, still disabled; 0 also when the thread has ended. */
int perf_events_add(struct perf_events *events, pid_t tid, struct err *err) MUST_CHECK;
/* Another set, still empty, that writes into the same rings; only one of the two is done with, the
 * other one is closed. */
struct perf_events perf_events_beside(const struct perf_events *events,
				      const struct perf_attrs *attrs);
/* Closes all events, not the rings. */
void perf_events_close(struct perf_events *events);
/* Closes the events of the last attribute. */
void perf_events_drop_last(struct perf_events *events);
/* Call before perf_events_find(). */
void perf_events_sort(struct perf_events *events);
void perf_events_switch(struct perf_events *events, bool is_on);
/* Of the smallest ring; 0: there is none. */
size_t perf_events_ring_size(const struct perf_events *events);
/* Samples without room in a ring; 0 where the kernel does not count them (before Linux 6.0). */
uint64_t perf_events_lost(const struct perf_events *events);
/* The event of this id; NULL: none of limpet's (any more). */
const struct perf_event *perf_events_find(const struct perf_events *events, uint64_t id);
/* Waits until a sample arrives, where the attributes allow that, or until the limit. */
void perf_events_wait(const struct perf_events *events, int limit_ms);
void perf_events_done(struct perf_events *events);

/*
 * A thread on each processor that reads samples where they were taken.  What is not in a copy is
 * read when the sample arrives: a collector on another processor is some tens of microseconds late,
 * in which the sampled thread goes on; one on the same processor displaces the thread, so that it
 * stands still.  Only one of them works at a time, and only while the collector waits for them.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"

struct watchers;

/* For these rings.  -ENOMEM, -EAGAIN, -EMFILE, -E2BIG: do without. */
int watchers_open(struct watchers **ret, const struct perf_events *events) MUST_CHECK;

/* Lets them call take(), at each sample, until it returns something else than 0 or the time is
 * over.  Returns its last result; -ENODATA: they get no events any more, as the first thread of the
 * process has ended. */
int watchers_let(struct watchers *watchers, int (*take)(void *context), void *context,
		 uint64_t limit_ns) MUST_CHECK;

/* Processor time that they have used. */
uint64_t watchers_used_ns(const struct watchers *watchers);

/* Call before the rings are closed. */
void watchers_close(struct watchers *watchers);

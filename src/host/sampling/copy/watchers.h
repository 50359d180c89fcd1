/*
 * A thread on each processor that takes samples where they were taken.  What is not in a copy is
 * read when the sample is heard of: a collector on another processor comes some tens of
 * microseconds later, in which the sampled thread goes on; one on the same processor takes its
 * place there, so that it stands still.  Only one of them works at a time, and only while the
 * collector waits for them.
 */
#pragma once

#include "host/sampling/copy/perf_events.h"

struct watchers;

/* Of the rings that there are.  -ENOMEM, -EAGAIN, -EMFILE, -E2BIG: do without. */
int watchers_open(struct watchers **ret, const struct perf_events *events) MUST_CHECK;

/* Lets them call take(), each time that a sample has come, until it returns something else than 0
 * or so much time has passed.  What it returned last; -ENODATA: they cannot hear any more, as the
 * first thread of the process has ended. */
int watchers_let(struct watchers *watchers, int (*take)(void *context), void *context,
		 uint64_t limit_ns) MUST_CHECK;

/* Processor time that they have used. */
uint64_t watchers_used_ns(const struct watchers *watchers);

/* Before the rings are closed. */
void watchers_close(struct watchers *watchers);

/*
 * The stack of every thread of a process at one moment, with no thread stopped.  A kernel program
 * walks the threads off the processor; a running thread is sampled at the next tick of a clock of
 * its own.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/unwind/space.h"

#include <stdbool.h>

struct snapshot {
	struct space *space;
	/* One for each thread, ascending tids; owned.  SAMPLE_RUNNING: was on a processor;
	 * SAMPLE_RUNNABLE: waited for one; SAMPLE_BLOCKED: `state` says how.  The weight is 0.
	 * STACK_NO_USER: the thread exists, but was not caught (it runs very briefly, or is
	 * ending). */
	struct sample **samples;
	size_t count, room;
	char limits[256]; /* what was missed, and why; "": nothing */
};

/* Called when all is prepared, just before the threads are walked; 0 or the error that ends it. */
struct snapshot_hook {
	int (*before)(void *context, struct err *err);
	void *context;
};

/* Errors as those of sampler_kind.open(): not available here.  hook: NULL for none. */
int snapshot_take(struct snapshot **ret, pid_t pid, bool with_kernel_frames,
		  const struct snapshot_hook *hook, struct err *err) MUST_CHECK;
void snapshot_free(struct snapshot *snapshot);

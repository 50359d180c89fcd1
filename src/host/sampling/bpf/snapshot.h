/*
 * Where every thread of a process is now, without any of them being stopped.  Threads that are off
 * the processor are seen by a walk of a kernel program over them; those that run, at the next tick
 * of a clock of their own.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/unwind/space.h"

#include <stdbool.h>

struct snapshot {
	struct space *space;
	/* One for each thread, ascending tids; owned.  SAMPLE_RUNNING: was on a processor;
	 * SAMPLE_RUNNABLE: waited for one; SAMPLE_BLOCKED: `state` says how.  The weight is 0.
	 * STACK_NO_USER: it is there, but could not be caught (it ran for moments only, or is
	 * ending). */
	struct sample **samples;
	size_t count, room;
	char limits[256]; /* what could not be seen, and why; "" for nothing */
};

/* Called when all is prepared, just before the threads are looked at; 0 or the error that ends it.
 */
struct snapshot_hook {
	int (*before)(void *context, struct err *err);
	void *context;
};

/* Errors as those of sampler_kind.open(): this way cannot be had here.  hook: NULL for none. */
int snapshot_take(struct snapshot **ret, pid_t pid, bool with_kernel_frames,
		  const struct snapshot_hook *hook, struct err *err) MUST_CHECK;
void snapshot_free(struct snapshot *snapshot);

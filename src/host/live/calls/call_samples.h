/*
 * Calls as samples: requested memory, and the time of devices, locks and I/O.  Each has a stack and
 * a weight, so that every view of samples can show calls, too.
 */
#pragma once

#include "host/live/calls/spans.h"
#include "host/live/store/store.h"
#include "host/model/calls/call_names.h"

enum call_weight {
	CALLS_ALLOC,  /* bytes that were requested */
	CALLS_DEVICE, /* time of work, below the call that caused it */
	CALLS_LOCK,   /* time of the calls themselves */
	CALLS_IO,
	CALL_WEIGHTS,
};

/* Where they come from. */
struct calls_read {
	struct model *model;
	const struct spans *spans; /* its; CALLS_DEVICE only */
	struct call_names *names;
	uint64_t origin_ns; /* CLOCK_MONOTONIC of time 0 of the spans */
};

/* Makes the samples of calls, in order.  Their model has samples of its own, and the threads of the
 * calls; its last thread stands for none.  0 or -ENOMEM. */
int call_samples_make(struct store *ret, const struct calls_read *calls,
		      enum call_weight weight) MUST_CHECK;
void call_samples_done(struct store *samples);

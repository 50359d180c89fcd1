/*
 * Samplers of the C API: sampler.c has the API's functions and drives the recorder, sampler_read.c
 * passes samples to callers.
 *
 * Three threads meet here: the caller's, the sampling thread, and the one that calls back.  The
 * sampling thread never waits for the third: the live store is between them.
 */
#pragma once

#include "host/api/api.h"
#include "host/live/live.h"
#include "host/recorder/recorder.h"

#include <pthread.h>

/* Stacks held by the caller: frames are named on request, by any thread. */
struct limpet_stack {
	struct live *live; /* NULL: */
	struct code_list *codes;
	pthread_mutex_t *lock; /* guards the list */
	const struct recorded_frame *frames;
	size_t count;
};

struct limpet_sampler {
	pid_t pid;
	uint64_t start_tick;
	struct sampling_options options;
	char *sampler_name, *path;
	struct live *live;
	size_t room; /* so many samples are kept for callers */

	pthread_mutex_t turn; /* serializes start and stop */
	struct recorder *recorder;
	bool is_started, is_recorded;

	limpet_sample_visitor *on_sample;
	void *context;
	pthread_t callback_thread; /* calls back */
	bool has_callbacks;
	pid_t callback_tid; /* 0 while there is none; atomic */

	pthread_mutex_t lock; /* guards what follows; never held for long */
	unsigned rate_hz;
	struct sampling *sampling;
	struct sampling_totals totals; /* when there is none any more */
	uint64_t delivered, missed;    /* samples that callbacks got, or that were dropped before */
};

int sampler_check_rate(unsigned hz, struct err *err) MUST_CHECK;

/* The thread that calls back, if there is a callback; it delivers all kept samples before it
 * ends. */
int sampler_start_callbacks(struct limpet_sampler *self, struct err *err) MUST_CHECK;
void sampler_stop_callbacks(struct limpet_sampler *self);

/* Samples dropped before the callback got them; without one: that callers cannot read any more. */
uint64_t sampler_overwritten(struct limpet_sampler *self);

/*
 * Windows on their way into a recording: who measures adds them, and they are written when they are
 * many or old.  One thread at a time.
 */
#pragma once

#include "host/recording/recording.h"

#define COUNTER_INTERVAL_NS       100000000u /* where nothing else is said */
#define COUNTER_INTERVAL_LEAST_NS 1000000u

struct counter_events;
struct counter_collection;

struct window_options {
	uint64_t interval_ns; /* of a window */
	/* What the kernel and the processor count of the processes; NULL: nothing. */
	const struct counter_events *events;
	/* What devices count, told by an agent in the one process that is recorded; NULL: nothing.
	 */
	const struct counter_collection *devices;
	/* What NVIDIA's devices do, told by a process of ours. */
	bool has_gpus;
	/* Of these, metrics that their counters are sampled for, with commas; "": the usual ones;
	 * NULL: none. */
	const char *pm_metrics;
	/* Sees each window too, on any thread, one at a time; NULL: nobody does. */
	void (*observe)(void *context, const struct recorded_metric *metric,
			const struct recorded_window *window);
	void *context;
};

/* Zero is empty. */
struct window_batch {
	struct recording *recording;
	struct recorded_window *items;
	size_t count, room;
	uint64_t since_ns; /* the first of them was added */
};

/* 0, also where it is not written yet. */
int window_batch_add(struct window_batch *batch, const struct recorded_window *window,
		     struct err *err) MUST_CHECK;
int window_batch_flush(struct window_batch *batch, struct err *err) MUST_CHECK;
void window_batch_done(struct window_batch *batch);

/*
 * Windows on their way into a recording: their sources add them, and they are written when they are
 * many or old.  One thread at a time.
 */
#pragma once

#include "host/recording/recording.h"

#define COUNTER_INTERVAL_NS       100000000u /* the default */
#define COUNTER_INTERVAL_LEAST_NS 1000000u

struct counter_events;
struct counter_collection;

struct window_options {
	uint64_t interval_ns; /* of a window */
	/* Events of the kernel and the processor; NULL: none. */
	const struct counter_events *events;
	/* Counters of devices, read by an agent in the one recorded process; NULL: none. */
	const struct counter_collection *devices;
	/* Metrics of NVIDIA's devices, from limpet-nvml. */
	bool has_gpus;
	/* Metrics to sample on these devices, with commas; "": the default ones; NULL: none. */
	const char *pm_metrics;
	/* Gets each window too, on any thread, one at a time; may be NULL. */
	void (*observe)(void *context, const struct recorded_metric *metric,
			const struct recorded_window *window);
	void *context;
};

/* Zero is empty. */
struct window_batch {
	struct recording *recording;
	struct recorded_window *items;
	size_t count, room;
	uint64_t since_ns; /* when the first of them was added */
};

/* 0, also while it is not written yet. */
int window_batch_add(struct window_batch *batch, const struct recorded_window *window,
		     struct err *err) MUST_CHECK;
int window_batch_flush(struct window_batch *batch, struct err *err) MUST_CHECK;
void window_batch_done(struct window_batch *batch);

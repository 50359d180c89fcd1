/*
 * Counters over time, as windows of a recording: of processes by the kernel and the processor, of
 * devices by an agent in the one recorded process, of NVIDIA's devices by limpet-nvml.
 */
#pragma once

#include "host/collect/readings.h"
#include "host/recorder/base/programs.h"

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

/* Windows on their way into a recording: written when they are many or old.  One thread at a
 * time. */
struct window_batch {
	struct recording *recording;
	struct window_options options;
	struct recorded_window *items; /* zero: empty, with what follows */
	size_t count, room;
	uint64_t since_ns; /* when the first of them was added */
};

/* Also for the observer.  0, also while it is not written yet. */
int window_batch_add(struct window_batch *batch, const struct recorded_metric *metric,
		     const struct recorded_window *window, struct err *err) MUST_CHECK;
int window_batch_flush(struct window_batch *batch, struct err *err) MUST_CHECK;

/*
 * Of processes, on a thread of their own.  Nothing is loaded into the processes, nothing in them is
 * stopped.
 *
 *   cpu_windows_new, cpu_windows_start, (cpu_windows_check), cpu_windows_pause, cpu_windows_start,
 *   ..., cpu_windows_free
 */
struct cpu_windows;

int cpu_windows_new(struct cpu_windows **ret, struct programs *programs,
		    const struct window_options *options, struct err *err) MUST_CHECK;
void cpu_windows_free(struct cpu_windows *windows);

/* Fails with the reasons where none of the events can be counted. */
int cpu_windows_start(struct cpu_windows *windows, const pid_t *pids, size_t count,
		      bool has_children, struct err *err) MUST_CHECK;
/* 0, or what ended the thread. */
int cpu_windows_check(struct cpu_windows *windows, struct err *err) MUST_CHECK;
/* Ends the last windows. */
int cpu_windows_pause(struct cpu_windows *windows, struct err *err) MUST_CHECK;
/* Lines: which events are not counted, and why; "". */
const char *cpu_windows_reasons(const struct cpu_windows *windows);

/* Of NVIDIA's devices, in the same order of calls: limpet-nvml, a process of limpet's, calls
 * NVIDIA's management library, and CUPTI where counters are sampled; a thread receives its
 * messages.  Nothing is loaded into the target. */
struct gpu_windows;

/* Starts limpet-nvml, and fails with the reason where there is nothing to measure.  pid: the
 * process whose own use of devices is measured. */
int gpu_windows_new(struct gpu_windows **ret, struct programs *programs,
		    const struct window_options *options, pid_t pid, struct err *err) MUST_CHECK;
void gpu_windows_free(struct gpu_windows *windows);
int gpu_windows_start(struct gpu_windows *windows, struct err *err) MUST_CHECK;
int gpu_windows_check(struct gpu_windows *windows, struct err *err) MUST_CHECK;
int gpu_windows_pause(struct gpu_windows *windows, struct err *err) MUST_CHECK;

/* Of devices: turns readings, which an agent makes in the process, into windows: the counts between
 * two readings, combined into the wanted counters. */
struct device_windows;

int device_windows_new(struct device_windows **ret, struct recording *recording,
		       const struct window_options *options, struct err *err) MUST_CHECK;
void device_windows_free(struct device_windows *windows);
/* The function for collect_source.take_reading. */
int device_windows_add(void *windows, const struct device_reading *reading,
		       struct err *err) MUST_CHECK;
/* Writes what is pending; after the last reading. */
int device_windows_flush(struct device_windows *windows, struct err *err) MUST_CHECK;
/* The number of windows made. */
uint64_t device_windows_count(const struct device_windows *windows);

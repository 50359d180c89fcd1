/*
 * Metrics of NVIDIA's devices, as windows of a recording: limpet-nvml, a process of limpet's, calls
 * NVIDIA's management library, and CUPTI where counters are sampled; a thread receives its
 * messages.  Nothing is loaded into the target.
 *
 *   gpu_windows_new, gpu_windows_start, (gpu_windows_check), gpu_windows_pause, gpu_windows_start,
 *   ..., gpu_windows_free
 */
#pragma once

#include "host/recorder/programs.h"
#include "host/recorder/windows/window_batch.h"

struct gpu_windows;

/* Starts limpet-nvml, and fails with the reason where there is nothing to measure.  pid: the
 * process whose own use of devices is measured. */
int gpu_windows_new(struct gpu_windows **ret, struct recording *recording,
		    struct programs *programs, const struct window_options *options, pid_t pid,
		    struct err *err) MUST_CHECK;
void gpu_windows_free(struct gpu_windows *windows);

int gpu_windows_start(struct gpu_windows *windows, struct err *err) MUST_CHECK;
/* 0, or what ended the thread. */
int gpu_windows_check(struct gpu_windows *windows, struct err *err) MUST_CHECK;
/* Ends the last windows. */
int gpu_windows_pause(struct gpu_windows *windows, struct err *err) MUST_CHECK;

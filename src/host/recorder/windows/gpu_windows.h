/*
 * What NVIDIA's devices do over time, as windows of a recording: a process of ours (limpet-nvml)
 * asks NVIDIA's management library, and CUPTI where counters are sampled, a thread takes what it
 * says.  Nothing is loaded into the target.
 *
 *   gpu_windows_new, gpu_windows_start, (gpu_windows_check), gpu_windows_pause, gpu_windows_start,
 *   ..., gpu_windows_free
 */
#pragma once

#include "host/recorder/programs.h"
#include "host/recorder/windows/window_batch.h"

struct gpu_windows;

/* Starts the process, and fails where there is nothing to measure, with why.  pid: of whom devices
 * are asked in particular. */
int gpu_windows_new(struct gpu_windows **ret, struct recording *recording,
		    struct programs *programs, const struct window_options *options, pid_t pid,
		    struct err *err) MUST_CHECK;
void gpu_windows_free(struct gpu_windows *windows);

int gpu_windows_start(struct gpu_windows *windows, struct err *err) MUST_CHECK;
/* 0, or what ended the thread. */
int gpu_windows_check(struct gpu_windows *windows, struct err *err) MUST_CHECK;
/* The last windows end here. */
int gpu_windows_pause(struct gpu_windows *windows, struct err *err) MUST_CHECK;

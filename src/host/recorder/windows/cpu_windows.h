/*
 * Counters of processes by the kernel and the processor, as windows of a recording, on a thread of
 * its own.  Nothing is loaded into the processes, nothing in them is stopped.
 *
 *   cpu_windows_new, cpu_windows_start, (cpu_windows_check), cpu_windows_pause, cpu_windows_start,
 *   ..., cpu_windows_free
 */
#pragma once

#include "host/recorder/programs.h"
#include "host/recorder/windows/window_batch.h"

struct cpu_windows;

int cpu_windows_new(struct cpu_windows **ret, struct recording *recording,
		    struct programs *programs, const struct window_options *options,
		    struct err *err) MUST_CHECK;
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

/*
 * Threads off the processor: the stack with which each left it, kept until it returns and its time
 * is known.
 */
#pragma once

#include "host/sampling/off_cpu.h"
#include "shared/wire/kernel.h"

#include <stdbool.h>

/* The code of the kernel's __schedule(), in which a thread leaves the processor: frames further in
 * on its kernel stack belong to the tracing that read the stack, not to the thread.  Both 0 while
 * it is not known. */
struct scheduler {
	uint64_t start, end;
};

/* Finds it in a file like /proc/kallsyms.  False: the kernel hides its addresses. */
bool scheduler_find(struct scheduler *ret, const char *path);

/* Removes the kernel frames of a sample that are further in than the scheduler. */
void scheduler_cut(const struct scheduler *scheduler, struct sample *sample);

struct off_cpu_threads {
	struct off_cpu threads;
	struct scheduler scheduler;
};

typedef void off_cpu_visitor(const struct sample *sample, void *context);

/* KERNEL_EVENT_LEFT: it is off the processor from now on.  -ENOMEM. */
int off_cpu_threads_begin(struct off_cpu_threads *self, const struct sample *left) MUST_CHECK;

/* KERNEL_EVENT_CAME: emits a sample of the time it was blocked, and one of the time it waited for a
 * processor. */
void off_cpu_threads_end(struct off_cpu_threads *self, const struct sample *came,
			 off_cpu_visitor *visit, void *context);

/* Emits samples up to now of threads still off the processor.  map: the kernel programs' entries of
 * these. */
void off_cpu_threads_flush(struct off_cpu_threads *self, int map, uint64_t now_ns,
			   off_cpu_visitor *visit, void *context);

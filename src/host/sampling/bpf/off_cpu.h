/*
 * Threads off the processor: the stack with which each left it, kept until it returns and its time
 * is known.
 */
#pragma once

#include "host/sampling/bpf/scheduler.h"
#include "shared/base/macros.h"
#include "shared/wire/kernel.h"

#include <stdbool.h>
#include <stddef.h>

struct off_cpu_threads {
	void *tree; /* of struct off_cpu, by tid */
	struct scheduler scheduler;
};

typedef void off_cpu_visitor(const struct sample *sample, void *context);

/* KERNEL_EVENT_LEFT: it is off the processor from now on.  -ENOMEM. */
int off_cpu_threads_begin(struct off_cpu_threads *off_cpu_threads,
			  const struct sample *left) MUST_CHECK;

/* KERNEL_EVENT_CAME: emits a sample of the time it was blocked, and one of the time it waited for a
 * processor. */
void off_cpu_threads_end(struct off_cpu_threads *off_cpu_threads, const struct sample *came,
			 off_cpu_visitor *visit, void *context);

/* Emits samples up to now of threads still off the processor.  map: the kernel programs' entries of
 * these. */
void off_cpu_threads_flush(struct off_cpu_threads *off_cpu_threads, int map, uint64_t now_ns,
			   off_cpu_visitor *visit, void *context);

void off_cpu_threads_done(struct off_cpu_threads *off_cpu_threads);

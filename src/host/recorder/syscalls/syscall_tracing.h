/*
 * Traces the system calls of processes into a recording, on a thread of its own.
 *
 *   syscall_tracing_new, syscall_tracing_start, (syscall_tracing_check), syscall_tracing_pause,
 *   syscall_tracing_start, ..., syscall_tracing_free
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/base/programs.h"
#include "host/syscalls/syscall_source.h"

struct syscall_tracing;

struct syscall_totals {
	struct collect_totals collected;
	uint64_t processes;
	uint64_t began_before, under_way; /* see recorded_syscalls */
};

/* Fails where it is not possible, or not allowed. */
int syscall_tracing_new(struct syscall_tracing **ret, struct programs *programs,
			struct err *err) MUST_CHECK;
void syscall_tracing_free(struct syscall_tracing *tracing);

/* Returns when tracing runs. */
int syscall_tracing_start(struct syscall_tracing *tracing,
			  const struct syscall_source_options *options, struct err *err) MUST_CHECK;
/* 0, or what ended the thread. */
int syscall_tracing_check(struct syscall_tracing *tracing, struct err *err) MUST_CHECK;
/* Stops, and writes what is in the ring. */
int syscall_tracing_pause(struct syscall_tracing *tracing, struct err *err) MUST_CHECK;

/* Is one of the processes still alive? */
bool syscall_tracing_goes_on(const struct syscall_tracing *tracing);
void syscall_tracing_totals(struct syscall_tracing *tracing, struct syscall_totals *ret);

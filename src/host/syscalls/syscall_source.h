/*
 * System calls of processes, from kernel programs: nothing is loaded into a process, and no thread
 * is stopped.
 *
 *   syscall_source_open, syscall_source_drain again and again, syscall_source_stop, drain once
 *   more, syscall_source_each_thread, syscall_source_close
 *
 * One thread.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/syscall.h"

#include <stdbool.h>
#include <sys/types.h>

#define SYSCALL_RING_BYTES (8u << 20)

struct syscall_source_options {
	const pid_t *pids;
	size_t pid_count;
	bool has_children;   /* their descendants too, also later ones */
	uint64_t ring_bytes; /* a power of two; 0: SYSCALL_RING_BYTES */
};

struct syscall_source;

/* Is it allowed, and does this kernel support it?  Loads nothing. */
int syscall_source_probe(struct err *err) MUST_CHECK;

/* From here on calls are seen. */
int syscall_source_open(struct syscall_source **ret, const struct syscall_source_options *options,
			struct err *err) MUST_CHECK;

/* Whole records, with a path that ends.  Not 0: no more, please. */
typedef int syscall_visitor(const struct syscall_record *record, void *context);

/* Handles new records.  Returns the visitor's result, their number, or -errno. */
int syscall_source_drain(struct syscall_source *source, syscall_visitor *visit, void *context);

/* Sees no more calls. */
void syscall_source_stop(struct syscall_source *source);

/* After the stop: all threads that have made calls, with their present one. */
typedef void syscall_thread_visitor(const struct syscall_thread *thread, void *context);
void syscall_source_each_thread(const struct syscall_source *source, syscall_thread_visitor *visit,
				void *context);

/* The present processes; the caller frees *ret. */
int syscall_source_list(const struct syscall_source *source, pid_t **ret, size_t *ret_count,
			struct err *err) MUST_CHECK;
/* True when there is one. */
bool syscall_source_has_processes(const struct syscall_source *source);

void syscall_source_counts(const struct syscall_source *source, struct syscall_counts *ret);

void syscall_source_close(struct syscall_source *source);

/*
 * System calls on their way into a recording: processes, threads, functions and files are written
 * once, at first use.  One thread at a time.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/base/programs.h"
#include "shared/wire/syscall.h"

struct syscall_writer;

int syscall_writer_new(struct syscall_writer **ret, struct programs *programs,
		       struct err *err) MUST_CHECK;
void syscall_writer_free(struct syscall_writer *writer);

/* Before the first record, and after a pause: programs may have changed. */
void syscall_writer_begin(struct syscall_writer *writer);
int syscall_writer_add(struct syscall_writer *writer, const struct syscall_record *record,
		       struct err *err) MUST_CHECK;

/* Dropped calls of a process whose thread is not known. */
int syscall_writer_drop(struct syscall_writer *writer, pid_t pid, enum drop_reason reason,
			uint64_t count, struct err *err) MUST_CHECK;
/* Calls of a process that have not returned; those that began before tracing did. */
int syscall_writer_cut(struct syscall_writer *writer, pid_t pid, uint64_t under_way,
		       uint64_t began_before, struct err *err) MUST_CHECK;

/* Writes old records, or, with everything, all of them. */
int syscall_writer_flush(struct syscall_writer *writer, bool everything,
			 struct err *err) MUST_CHECK;
/* Updates the names of threads. */
int syscall_writer_refresh(struct syscall_writer *writer, struct err *err) MUST_CHECK;

struct syscall_totals {
	struct collect_totals collected;
	uint64_t processes;
	uint64_t began_before, under_way; /* see recorded_syscalls */
};

void syscall_writer_totals(const struct syscall_writer *writer, struct syscall_totals *ret);

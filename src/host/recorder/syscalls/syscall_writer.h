/*
 * System calls on their way into a recording: processes, threads, functions and files are written
 * once, when they are first met.  One thread at a time.
 */
#pragma once

#include "host/collect/collect.h"
#include "host/recorder/programs.h"
#include "shared/wire/syscall.h"

struct syscall_writer;

int syscall_writer_new(struct syscall_writer **ret, struct recording *recording,
		       struct programs *programs, struct err *err) MUST_CHECK;
void syscall_writer_free(struct syscall_writer *writer);

/* Before the first record, and where some time has passed without: programs may have changed. */
void syscall_writer_begin(struct syscall_writer *writer);
int syscall_writer_take(struct syscall_writer *writer, const struct syscall_record *record,
			struct err *err) MUST_CHECK;

/* Dropped calls of a process of which nobody knows the thread. */
int syscall_writer_drop(struct syscall_writer *writer, pid_t pid, enum drop_reason reason,
			uint64_t count, struct err *err) MUST_CHECK;
/* Calls of a process that have not returned; those that began before anybody looked. */
int syscall_writer_cut(struct syscall_writer *writer, pid_t pid, uint64_t under_way,
		       uint64_t began_before, struct err *err) MUST_CHECK;

/* Writes what is old, or, with everything, all that there is. */
int syscall_writer_flush(struct syscall_writer *writer, bool everything,
			 struct err *err) MUST_CHECK;
/* Threads have other names by now. */
int syscall_writer_look(struct syscall_writer *writer, struct err *err) MUST_CHECK;

struct syscall_totals {
	struct collect_totals collected;
	uint64_t processes;
	uint64_t began_before, under_way; /* see recorded_syscalls */
};

void syscall_writer_totals(const struct syscall_writer *writer, struct syscall_totals *ret);

/*
 * System calls on their way into a recording: processes, threads, functions and files are written
 * once, at first use.  One thread at a time.
 */
#pragma once

#include "host/collect/slot.h"
#include "host/recorder/base/tick_clock.h"
#include "host/recorder/syscalls/syscall_tracing.h"
#include "host/syscalls/syscall_files.h"
#include "host/syscalls/syscall_table.h"
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

/* For the syscall_writer*.c files: the processes and threads whose calls are written. */

/* Numbers of calls, those of 32-bit calls, and one each for all invalid numbers. */
#define FUNCTIONS_MAX (2 * (SYSCALL_NUMBERS_MAX + 1))

struct writer_process {
	pid_t pid;
	uint32_t number;                   /* in the recording */
	uint32_t functions[FUNCTIONS_MAX]; /* their numbers there, plus 1; 0: not yet */
	struct syscall_files files;
	struct recorded_syscalls cut;
	char executing[SYSCALL_PATH_MAX]; /* by a call that has not returned */
};

struct writer_thread {
	struct slot slot;
	pid_t pid;
	bool is_seen;     /* since the last update of its name */
	uint32_t dropped; /* as last reported */
	uint64_t last_end;
};

struct syscall_writer {
	struct recording *recording;
	struct programs *programs;
	uint8_t shapes[SYSCALL_NUMBERS_MAX]; /* enum syscall_shape, by number */
	struct tick_clock clock;
	uint64_t now_ns;
	struct writer_process **processes;
	size_t process_count, process_room;
	struct table process_indexes; /* (pid, 0): in processes */
	struct writer_thread **threads;
	size_t thread_count, thread_room;
	struct table thread_indexes; /* (tid, pid): in threads */
	struct syscall_totals totals;
};

int syscall_writer_no_memory(struct err *err);

/* NULL: without a record so far. */
struct writer_process *writer_process_known(const struct syscall_writer *writer, pid_t pid);
/* The same; adds it with its first record. */
int writer_process_find(struct syscall_writer *writer, pid_t pid, struct writer_process **ret,
			struct err *err) MUST_CHECK;
/* A new process, or another program. */
int writer_process_begin(struct syscall_writer *writer, pid_t pid, struct err *err) MUST_CHECK;
/* With its threads; a later process with its number is another one. */
int writer_process_end(struct syscall_writer *writer, pid_t pid, struct err *err) MUST_CHECK;
/* Drops a process that runs another program: its threads are new, too. */
void writer_process_renew(struct syscall_writer *writer, struct writer_process *process);
/* Writes the counts of calls cut by the recording's own beginning and end. */
int writer_process_write_cut(struct syscall_writer *writer, const struct writer_process *process,
			     struct err *err) MUST_CHECK;
void writer_process_free(struct writer_process *process);

int writer_thread_find(struct syscall_writer *writer, const struct writer_process *process,
		       pid_t tid, struct writer_thread **ret, struct err *err) MUST_CHECK;
/* The last one moves to its index. */
void writer_thread_remove(struct syscall_writer *writer, size_t index);

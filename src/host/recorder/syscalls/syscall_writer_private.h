/*
 * Private to the syscall_writer*.c files: the processes and threads whose calls are written.
 */
#pragma once

#include "host/collect/slot.h"
#include "host/recorder/base/tick_clock.h"
#include "host/recorder/syscalls/syscall_writer.h"
#include "host/syscalls/syscall_files.h"
#include "host/syscalls/syscall_table.h"

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

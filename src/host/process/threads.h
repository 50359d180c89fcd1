/*
 * The threads of a process.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"
#include "host/core/threads/thread_state.h"
#include "shared/arch/blocked_call.h"

#include <sys/types.h>

struct thread {
	pid_t tid;
	char name[32];
	char state; /* as in status.h */
	uint64_t cpu_ns;
	char wait_channel[64]; /* the kernel function it sleeps in; "": running, or not readable */
};

struct threads {
	struct thread *items; /* ascending tids */
	size_t count;
};

/* Threads that end meanwhile are skipped. */
int threads_read(pid_t pid, struct threads *ret, struct err *err) MUST_CHECK;
void threads_done(struct threads *threads);

/* The threads that run the program's code, without the kernel's for io_uring; at most `most` of
 * them.  The caller frees the list. */
int threads_list_own(pid_t pid, size_t most, pid_t **ret_tids, size_t *ret_count,
		     struct err *err) MUST_CHECK;

/* Is it a thread of this process? */
bool thread_is_there(pid_t pid, pid_t tid);

/* Reads a thread's name; *ret is unchanged if it has ended. */
void thread_read_name(pid_t pid, pid_t tid, char *ret, size_t room);

/* Reads the system call that a thread waits in; 0, or -errno where that may not be read or the
 * thread has ended. */
int thread_read_call(pid_t pid, pid_t tid, struct blocked_call *ret);

DEFINE_STRUCT_CLEANUP(threads, threads_done)

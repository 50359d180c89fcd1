/*
 * Runs the injector, a small static program that limpet carries, as a process of its own: no ptrace
 * and no unexpected child in a caller's process.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/job.h"

#include <signal.h>

/* A job in memory that the injector can share; NULL when out of memory. */
struct job *job_new(int *ret_fd);
/* Reserves room for this many stacks, JOB_STACKS_MAX at most; 0 or -errno. */
int job_reserve_stacks(int fd, size_t count) MUST_CHECK;
void job_free(struct job *job, int fd);

/* Carries out the job and waits for its end; job->status has the result.  fds: the job's, and the
 * lock that the injector shall hold too.  -EIO when the injector was killed. */
int injector_run(struct job *job, const int fds[2], struct err *err) MUST_CHECK;

/* For functions that run on a stack used by others later, and that may end by exec: the address
 * sanitizer would never undo its marks for their variables. */
#define ON_LENT_STACK __attribute__((no_sanitize_address))

/*
 * Runs a function in a child that shares this memory and has copies of these descriptors, all
 * signals blocked, no exit signal: a caller of the library does not see it.  Returns its number
 * when it has executed another program or has left the memory, which an ending process does before
 * it closes its descriptors; then it is to be waited for with __WALL.  -errno when there is none.
 * ret_mask is set before it runs.
 */
pid_t child_run(int (*run)(void *argument), void *argument, sigset_t *ret_mask);

/* Pass a descriptor, or the reason why there is none, from such a child to limpet.  In the child:
 * system calls only, none of which can be cancelled.  code: 0, or -errno, and then fd is
 * ignored. */
void handover_send(int way, int code, int fd);
/* Receives a descriptor, or the child's code; -EIO when it sent nothing. */
int handover_receive(int way) MUST_CHECK;

/* A descriptor of anonymous memory with these bytes in it, usable as a library, sealed against
 * changes; or -errno. */
int blob_open(const char *name, const void *bytes, size_t size);
/* The same of that size, for limpet and a target to write, sealed against resizing. */
int shared_open(const char *name, size_t size, bool is_allocated);
/* The same, usable as a program. */
int program_open(const char *name, const void *bytes, size_t size);

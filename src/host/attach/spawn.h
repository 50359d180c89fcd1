/*
 * Runs the injector, a small static program that limpet carries inside itself, as a process of its
 * own: no ptrace and no stray child in a caller's process.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/job.h"

/* A job in memory that the injector can share; NULL when out of memory. */
struct job *job_new(int *ret_fd);
/* Room for so many stacks, JOB_STACKS_MAX at most; 0 or -errno. */
int job_reserve_stacks(int fd, size_t count) MUST_CHECK;
void job_free(struct job *job, int fd);

/* Carries out the job and waits for its end; job->status then tells.  fds: the job's, and the lock
 * that the injector shall hold too.  -EIO when the injector was killed. */
int injector_run(struct job *job, const int fds[2], struct err *err) MUST_CHECK;

/* Writes all of it; 0 or -errno. */
int bytes_write(int fd, const void *bytes, size_t size);

/* A descriptor of anonymous memory with these bytes in it, usable as a library, which nobody can
 * change any more. */
int blob_open(const char *name, const void *bytes, size_t size);

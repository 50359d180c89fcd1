/*
 * Files below /proc/PID, with the errors a person can read: gone, not permitted.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* name is relative to /proc/PID: "maps", "task/12/status".  The caller frees *ret. */
int proc_read(pid_t pid, const char *name, char **ret, size_t *ret_size,
	      struct err *err) MUST_CHECK;

/* For files known to be small: bytes read (cut at the capacity, terminated) or -errno. */
ssize_t proc_read_small(pid_t pid, const char *name, char *buffer, size_t capacity,
			struct err *err) MUST_CHECK;

/* The target of a link such as "exe" or "ns/pid", terminated; its size or -errno. */
ssize_t proc_read_link(pid_t pid, const char *name, char *buffer, size_t capacity) MUST_CHECK;

/*
 * The numbers that name entries of a directory, ascending: "task" for threads; pid 0 and "" for all
 * processes. At least one when it succeeds; the caller frees *ret.
 */
int proc_list(pid_t pid, const char *name, pid_t **ret, size_t *ret_count,
	      struct err *err) MUST_CHECK;

/* 0, or an error with the reason why /proc is unusable: not mounted, or of another pid
 * namespace. */
int proc_check(struct err *err) MUST_CHECK;

/* Turns an errno of such a file into the error; returns the code.  -ENOENT becomes -ESRCH, or its
 * cause: -EACCES where /proc hides the process, -ENOSYS where there is no /proc. */
int proc_error(pid_t pid, const char *name, int code, struct err *err);

/*
 * Files of a process, found by names that it chose, in its own root.  Whoever owns its /tmp may
 * have laid anything there: links lead nowhere but into that root, and the last name is none.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* A descriptor of its root, for nothing but finding files; -errno. */
int root_open(pid_t pid) MUST_CHECK;

/* As openat2() below that root; a descriptor or -errno. */
int root_file_at(int root, const char *path, int flags) MUST_CHECK;

/* A regular file with one name that belongs to the user of the process, to root, or to us: for
 * reading.  -EACCES when it is somebody else's. */
int root_file_open(pid_t pid, const char *path) MUST_CHECK;

/* Whether an open file is such a one.  0, or -EACCES, -EINVAL when it is no regular file. */
int file_check_owner(int fd, pid_t pid) MUST_CHECK;

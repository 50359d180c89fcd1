/*
 * The one place where files are opened whose names a target, a recording, an ELF file or debug
 * information chose.  Each is checked before it is opened, so that limpet never opens a device or
 * pipe; links stay inside the root that the name belongs to.  tools/check-opens.py keeps it the
 * only place.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* Larger ones are not files that are executed or debugged. */
#define FOREIGN_FILE_MAX ((uint64_t)64 << 30)

/* A part of a file may be this many times as large as the file on disk: file systems compress, and
 * omit zeroes. */
#define FOREIGN_SPARSE_RATIO 64u
#define FOREIGN_SPARSE_LEAST ((uint64_t)16 << 20)

/* A descriptor of the root of a process (0: limpet's), only for finding files; -errno. */
int foreign_root_open(pid_t pid) MUST_CHECK;

/* As openat2() below that root, following no link at the end; a descriptor or -errno. */
int foreign_file_at(int root, const char *path, int flags) MUST_CHECK;

/* What a path leads to in the root of a process (0: limpet's), of any type, only for fstat
 * (O_PATH); a descriptor or -errno. */
int foreign_file_find(pid_t pid, const char *path) MUST_CHECK;

/* A regular file in the root of a process (0: limpet's), for reading; a descriptor or -errno:
 * -EINVAL when it is no regular file, -EFBIG when it is larger than FOREIGN_FILE_MAX, -EOPNOTSUPP
 * when it is the kernel's (/proc, /sys) or on another user's file system in user space (FUSE),
 * which may never answer. */
int foreign_file_open(pid_t pid, const char *path) MUST_CHECK;

/* The same for a file whose last name is no link and its only one, and that belongs to the user of
 * the process, to root, or to limpet's user; -EACCES when another user owns it. */
int foreign_file_open_own(pid_t pid, const char *path) MUST_CHECK;

/* The same for a file that a process has mapped there. */
int foreign_file_open_mapped(pid_t pid, uint64_t start, uint64_t end) MUST_CHECK;

/* The same for a path that module_file_open() made: of a descriptor of limpet's, or in its root. */
int foreign_file_open_again(const char *path) MUST_CHECK;

/* How much may be read of one part of an open file: `max`, or less where it is mostly holes. */
uint64_t foreign_file_limit(int fd, uint64_t max);

/* Whether an open file is one for foreign_file_open_own().  0, -EACCES, -EINVAL. */
int foreign_file_check_owner(int fd, pid_t pid) MUST_CHECK;

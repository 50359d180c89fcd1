/*
 * Which file systems hold files that may be read though another user named them; the mounts of a
 * process.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/text/text.h"

#include <stdbool.h>
#include <sys/types.h>

/* 0, or -EOPNOTSUPP with a note: the file system is one of the kernel's own, where reading has
 * effects or no end, or a program of another user serves it.  `pid` is the process that sees the
 * path, 0: limpet. */
int file_system_check(int fd, pid_t pid, const char *path) MUST_CHECK;

/* Whether a program of another user serves a file system that the process sees (0: limpet), so that
 * even a lookup in it may hang. */
bool mounts_may_hang(pid_t pid);
/* The same by the text of a mountinfo file. */
bool mounts_have_strangers(const char *text, size_t size, uid_t own);

/* Whether the file system of a mount does something each time that a descriptor of its files is
 * closed; `number` as fdinfo has it.  Also true where neither the process nor limpet sees the
 * mount, as after umount -l, and where the mounts are too many to be read. */
bool mount_may_be_flushed(pid_t pid, uint64_t number);
/* The same by the text of a mountinfo file, and whether the mount is in it. */
bool mounts_find_flushed(const char *text, size_t size, uint64_t number);
bool mounts_have(const char *text, size_t size, uint64_t number);

/* The user whose program serves the FUSE file system with this device, by the text of a mountinfo
 * file; -ENOENT. */
int fuse_owner_find(const char *text, size_t size, dev_t device, uid_t *ret) MUST_CHECK;

/* A line of /proc/PID/mountinfo.  The text is foreign: an incomplete line has empty members. */
struct mount {
	uint64_t number, major, minor;
	struct text root, point; /* what of the file system is mounted, and where */
	struct text type, options;
};

/* Parses the next line that begins with numbers; false: there is none. */
bool mountinfo_next(struct text *rest, struct mount *ret);

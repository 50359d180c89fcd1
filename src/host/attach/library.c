/*
 * A memory file; or, for a target whose root has no /proc, a directory on a file system of its own:
 * made for this one library, read-only, mounted nowhere.  From a descriptor of any mounted
 * directory a target could walk up into the host's files.
 */
#include "host/attach/library.h"

#include "host/attach/children/spawn.h"
#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/process/rights/rights.h"
#include "shared/wire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INODES   "4"   /* its root, the library, the link, and the one that tmpfs itself counts */
#define ROOM     65536 /* for rounding up to pages of any size */
#define DIR_MODE "0755"

static int set_text(int context, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, value, 0);
}

/* A new tmpfs, mounted nowhere: reachable for this process alone, through the descriptor. */
static int filesystem_new(size_t size)
{
	CLEANUP(close) int context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	char limit[32];
	int fd;

	snprintf(limit, sizeof(limit), "%zu", size + ROOM);
	if (context < 0 || set_text(context, "mode", DIR_MODE) ||
	    set_text(context, "size", limit) || set_text(context, "nr_inodes", INODES) ||
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? -errno : fd;
}

/* The file has the name that a memory file would appear under in maps, so that both are found
 * alike. */
static int file_add(int directory, const char *name, const void *bytes, size_t size)
{
	char full[NAME_MAX + 1];
	int length = snprintf(full, sizeof(full), "memfd:%s (deleted)", name), r;
	CLEANUP(close) int fd = -1;

	if (length >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = openat(directory, full, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = descriptor_write(fd, bytes, size);
	if (!r && (fchmod(fd, 0555) || symlinkat(full, directory, LIBRARY_LINK)))
		r = -errno;
	return r;
}

/* Makes the file system itself read-only: a holder of a descriptor cannot write, not even root. */
static int filesystem_seal(int directory)
{
	CLEANUP(close)
	int context = (int)syscall(SYS_fspick, directory, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);

	if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "ro", NULL, 0) ||
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0))
		return -errno;
	return 0;
}

/* With the descriptor of the mount closed, there is no mount left that could be moved or copied. */
static int directory_open(const char *name, const void *bytes, size_t size)
{
	CLEANUP(close) int mount = filesystem_new(size);
	int r = mount < 0 ? mount : file_add(mount, name, bytes, size), fd;

	if (!r)
		r = filesystem_seal(mount);
	if (r)
		return r;
	fd = openat(mount, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int file_fill(const char *path, const char *text)
{
	CLEANUP(close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : descriptor_write(fd, text, strlen(text));
}

/* Maps a user or group to the same number. */
static int map_number(const char *path, unsigned number)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1", number, number);
	return file_fill(path, text);
}

/* In a child with new user and mount namespaces. */
static int directory_open_as(uid_t user, gid_t group, const char *name, const void *bytes,
			     size_t size)
{
	int r = file_fill("/proc/self/setgroups", "deny");

	if (!r)
		r = map_number("/proc/self/uid_map", user);
	if (!r)
		r = map_number("/proc/self/gid_map", group);
	return r ? r : directory_open(name, bytes, size);
}

/* Without the right to make file systems: a child does it in user and mount namespaces of its own,
 * where the kernel gives every user that right. */
static int directory_open_by_child(const char *name, const void *bytes, size_t size)
{
	uid_t user = geteuid();
	gid_t group = getegid();
	int ways[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ways))
		return -errno;
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS, 0L, 0L, 0L, 0L);
	if (pid == 0) {
		fd = directory_open_as(user, group, name, bytes, size);
		handover_send(ways[1], MIN(fd, 0), fd);
		_exit(0);
	}
	fd = pid < 0 ? -errno : -ECHILD;
	close(ways[1]);
	if (pid > 0 && waitpid(pid, NULL, __WALL) == pid)
		fd = handover_receive(ways[0]);
	close(ways[0]);
	return fd;
}

static int pack_in_directory(const struct target *target, const char *name, const void *bytes,
			     size_t size, struct err *err)
{
	bool may_change_root = target->process.status.capabilities >> CAP_SYS_CHROOT & 1;
	int fd = may_change_root ? directory_open(name, bytes, size) : -ENOTSUP;

	if (fd == -EPERM)
		fd = directory_open_by_child(name, bytes, size);
	if (fd >= 0)
		return fd;
	err_set(err, -ENOTSUP, "its root directory has no /proc");
	if (may_change_root) {
		err_why(err,
			"limpet cannot create the temporary file system that passes the library: %s",
			strerror(-fd));
		rights_fix_with(err, "SYS_ADMIN", "mount /proc in its root");
	} else {
		err_why(err,
			"limpet's thread must change its root to load a library there, and the "
			"process lacks CAP_SYS_CHROOT");
		err_fix(err, "mount /proc in its root");
	}
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

int library_pack(const struct target *target, const char *name, const void *bytes, size_t size,
		 struct library *ret, struct err *err)
{
	bool is_directory = !target_has_proc(target);
	int fd = is_directory ? pack_in_directory(target, name, bytes, size, err)
			      : blob_open(name, bytes, size);

	if (fd < 0)
		return is_directory ? fd
				    : err_set(err, fd, "memory for '%s': %s", name, strerror(-fd));
	*ret = (struct library){ fd, is_directory };
	return 0;
}

uint32_t library_flags(const struct library *library)
{
	return CONTROL_BY_CONTENT | (library->is_directory ? CONTROL_DIRECTORY : 0);
}

void library_close(struct library *library)
{
	if (library->fd >= 0)
		close(library->fd);
	*library = LIBRARY_NONE;
}

/*
 * Opens files by names that another user or program chose: first as a mere handle (O_PATH), then,
 * when it is a regular file of an ordinary file system, for reading.
 */
#include "host/process/foreign_file.h"

#include "host/core/cleanup.h"
#include "host/core/notes.h"
#include "host/process/file_system.h"
#include "host/process/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN_DESCRIPTOR "/proc/self/fd/"

int foreign_root_open(pid_t pid)
{
	char path[32] = "/";
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_below(int root, const char *path, int flags, uint64_t further)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? 0600 : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | further,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int foreign_file_at(int root, const char *path, int flags)
{
	return open_below(root, path, flags | O_NOFOLLOW, 0);
}

int foreign_file_check_owner(int fd, pid_t pid)
{
	struct process_status status;
	struct err ignored = { 0 };
	struct stat file;
	int r = fstat(fd, &file) < 0 ? -errno : 0;

	if (r)
		return r;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	if (file.st_nlink > 1)
		return -EACCES;
	if (!file.st_uid || file.st_uid == geteuid())
		return 0;
	r = status_read(pid, pid, &status, &ignored);
	if (r)
		return r;
	return file.st_uid == status.euid || file.st_uid == status.uid ? 0 : -EACCES;
}

/* Some file systems do not report the size on disk: zero. */
uint64_t foreign_file_limit(int fd, uint64_t max)
{
	uint64_t on_disk;
	struct stat file;

	if (fstat(fd, &file) < 0 || !file.st_blocks)
		return max;
	on_disk = MIN((uint64_t)file.st_blocks * 512, FOREIGN_FILE_MAX);
	return MIN(max, MAX(on_disk * FOREIGN_SPARSE_RATIO, FOREIGN_SPARSE_LEAST));
}

/* 0 when it may be opened for reading. */
static int check_handle(int handle, pid_t pid, const char *path, struct stat *ret)
{
	if (fstat(handle, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	if ((uint64_t)ret->st_size > FOREIGN_FILE_MAX) {
		note_add("file %s is not read: it has %" PRIu64 " GiB, and files of up to %" PRIu64
			 " GiB are read",
			 path, (uint64_t)ret->st_size >> 30, FOREIGN_FILE_MAX >> 30);
		return -EFBIG;
	}
	return file_system_check(handle, pid, path);
}

/* Takes the handle.  The link is limpet's own /proc entry: the file opened is the file checked. */
static int open_handle(int handle_to_take, pid_t pid, const char *path)
{
	CLEANUP(close) int handle = handle_to_take;
	struct stat seen, opened;
	char again[32];
	int fd, r = handle < 0 ? handle : check_handle(handle, pid, path, &seen);

	if (r)
		return r;
	snprintf(again, sizeof(again), OWN_DESCRIPTOR "%d", handle);
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &opened) && opened.st_dev == seen.st_dev && opened.st_ino == seen.st_ino)
		return fd;
	close(fd);
	return -ESTALE;
}

/* Into another file system only where all of them answer. */
static int open_path(int root, pid_t pid, const char *path, int flags)
{
	int handle = open_below(root, path, O_PATH | flags, RESOLVE_NO_XDEV);

	if (handle != -EXDEV)
		return handle;
	if (!mounts_may_hang(pid))
		return open_below(root, path, O_PATH | flags, 0);
	note_add(
		"file %s is not looked for: it lies behind a mount, and there is a file system for which a "
		"program of another user answers (FUSE), and may never do so",
		path);
	return -EOPNOTSUPP;
}

static int find_handle(pid_t pid, const char *path, int flags)
{
	CLEANUP(close) int root = foreign_root_open(pid);
	int handle = root < 0 ? root : open_path(root, pid, path, flags);

	/* A filter that does not know openat2() returns these; names in limpet's own root are
	 * opened without it. */
	if (pid || (handle != -ENOSYS && handle != -EPERM))
		return handle;
	handle = openat(root, path, O_PATH | O_CLOEXEC | flags);
	return handle < 0 ? -errno : handle;
}

int foreign_file_find(pid_t pid, const char *path)
{
	return find_handle(pid, path, 0);
}

int foreign_file_open(pid_t pid, const char *path)
{
	return open_handle(find_handle(pid, path, 0), pid, path);
}

int foreign_file_open_own(pid_t pid, const char *path)
{
	int handle = find_handle(pid, path, O_NOFOLLOW);
	int r = handle < 0 ? handle : foreign_file_check_owner(handle, pid);

	if (!r)
		return open_handle(handle, pid, path);
	if (handle >= 0)
		close(handle);
	return r;
}

static int open_link(const char *path, pid_t pid)
{
	int handle = open(path, O_PATH | O_CLOEXEC);

	return open_handle(handle < 0 ? -errno : handle, pid, path);
}

int foreign_file_open_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	char path[96];

	if (mounts_may_hang(pid))
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start,
		 end);
	return open_link(path, pid);
}

int foreign_file_open_again(const char *path)
{
	return strncmp(path, OWN_DESCRIPTOR, strlen(OWN_DESCRIPTOR)) == 0
		       ? open_link(path, /* pid */ 0)
		       : foreign_file_open(/* pid */ 0, path);
}

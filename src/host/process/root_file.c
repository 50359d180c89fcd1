/*
 * Opens files in the root of a process.  Host only.
 */
#include "host/process/root_file.h"

#include "host/core/cleanup.h"
#include "host/process/status.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_open(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int root_file_at(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = flags & O_CREAT ? 0600 : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int file_check_owner(int fd, pid_t pid)
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

/* Looked at before it is opened: no device or pipe notices us. */
int root_file_open(pid_t pid, const char *path)
{
	CLEANUP(close) int root = root_open(pid);
	CLEANUP(close) int place = root < 0 ? root : root_file_at(root, path, O_PATH);
	int r = place < 0 ? place : file_check_owner(place, pid), fd;
	char again[32];

	if (r)
		return r;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

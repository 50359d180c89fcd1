/*
 * The lock is on the process itself: since Linux 6.9 a pidfd is one inode for each process, whoever
 * opens it. Before, it is on the process's entry in /proc, which serves all who see the same /proc.
 * Host only.
 */
#include "host/attach/exclusion.h"

#include "host/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS    30000000000ull
#define PIDFS_MAGIC 0x50494446

static int open_lock(const struct target *target)
{
	int fd = (int)syscall(SYS_pidfd_open, target->process.pid, 0);
	struct statfs system;
	char path[64];

	if (fd >= 0 && !fstatfs(fd, &system) && system.f_type == PIDFS_MAGIC)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/%d/stat", target->process.pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int exclusion_take(const struct target *target, struct err *err)
{
	uint64_t deadline_ns = now_ns() + LIMIT_NS;
	struct timespec delay = { 0, 1000000 };
	int fd = open_lock(target);

	if (fd < 0)
		return err_set(err, -errno, "lock the process: %s", strerror(errno));
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || now_ns() > deadline_ns) {
			close(fd);
			err_set(err, -EBUSY,
				"another limpet is attaching to it and does not finish");
			return err_exit(err, EXIT_BUSY);
		}
		nanosleep(&delay, NULL);
	}
	return fd;
}

/*
 * The lock is on the target's mount namespace: the kernel has one inode for it, whoever looks and
 * through whichever /proc, and nobody else locks it.  Host only.
 */
#include "host/attach/exclusion.h"

#include "host/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 30000000000ull

int exclusion_take(const struct target *target, struct err *err)
{
	uint64_t deadline_ns = now_ns() + LIMIT_NS;
	struct timespec delay = { 0, 1000000 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", target->process.memory_tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "open %s: %s", path, strerror(errno));
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || now_ns() > deadline_ns) {
			close(fd);
			err_set(err, -EBUSY,
				"another limpet is attaching here and does not finish");
			return err_exit(err, EXIT_BUSY);
		}
		nanosleep(&delay, NULL);
	}
	return fd;
}

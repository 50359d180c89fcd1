/*
 * The lock is on /proc/PID/mem, which only those can open who may attach: on anything that others
 * can open, they could hold it against us.  All who open it in one /proc have the same inode for as
 * long as one of them holds it open.  Host only.
 */
#include "host/attach/exclusion.h"

#include "host/core/clock.h"
#include "host/process/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 30000000000ull

int exclusion_take(const struct target *target, struct err *err)
{
	uint64_t deadline_ns = now_ns() + LIMIT_NS;
	struct timespec delay = { 0, 1000000 };
	int fd = memory_open(target->process.memory_tid);

	if (fd < 0)
		return err_set(err, fd, "lock the process: %s", strerror(-fd));
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || now_ns() > deadline_ns) {
			close(fd);
			err_set(err, -EBUSY,
				"another limpet is attaching to it and does not finish");
			err_why(err, "somebody holds a lock on its /proc/PID/mem: a limpet, or the "
				     "program itself");
			return err_exit(err, EXIT_BUSY);
		}
		nanosleep(&delay, NULL);
	}
	return fd;
}

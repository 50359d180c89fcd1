/*
 * The lock is on /proc/PID/mem, which only processes that may attach can open: on a file that
 * others can open, they could hold it against limpet.  All that open it in one /proc share the same
 * inode for as long as one of them holds it open.
 */
#include "host/attach/exclusion.h"

#include "host/attach/lock_holder.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 10000000000ull
#define LOOK_NS  100000000ull /* then find the lock's holder */

static int exclusion_refuse(const struct target *target, pid_t holder, struct err *err)
{
	pid_t pid = target->process.pid;

	if (holder == pid) {
		err_set(err, -EBUSY, "it has locked its own memory file");
		err_why(err,
			"limpet locks /proc/%d/mem while it attaches, so that two never attach at once",
			pid);
		return err_exit(err, EXIT_BUSY);
	}
	err_set(err, -EBUSY, "another limpet is attaching to it and does not finish");
	if (holder)
		err_why(err, "process %d holds the lock on /proc/%d/mem", holder, pid);
	else
		err_why(err,
			"another limpet, or the program itself, holds the lock on /proc/%d/mem",
			pid);
	return err_exit(err, EXIT_BUSY);
}

/* Waits for the lock.  A target that holds the lock itself will not release it. */
static int await_lock(const struct target *target, int fd, struct err *err)
{
	uint64_t begin_ns = now_ns(), look_ns = begin_ns + LOOK_NS;
	struct timespec delay = { 0, 1000000 };

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		bool is_over = errno != EWOULDBLOCK || interrupt_is_waiting() ||
			       now_ns() > begin_ns + LIMIT_NS;

		if (is_over || now_ns() > look_ns) {
			pid_t holder = lock_holder(fd);

			look_ns = now_ns() + LOOK_NS;
			if (is_over || holder == target->process.pid)
				return exclusion_refuse(target, holder, err);
		}
		nanosleep(&delay, NULL);
	}
	return 0;
}

int exclusion_take(const struct target *target, struct err *err)
{
	int fd = memory_open(target->process.memory_tid), r;

	if (fd < 0)
		return err_set(err, fd, "lock the process: %s", strerror(-fd));
	r = await_lock(target, fd, err);
	if (r)
		close(fd);
	return r ? r : fd;
}

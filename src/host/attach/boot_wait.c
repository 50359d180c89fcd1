/*
 * limpet's first threads run in the target without a connection: the host polls their context in
 * the target's memory until there is a socket that it can take.
 */
#include "host/attach/attachment.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/memory.h"
#include "host/process/status.h"

#include <errno.h>
#include <string.h>

#define ERROR_MAX      4095 /* the largest in the kernel */
#define START_LIMIT_NS 20000000000ull
#define GLANCE_NS      50000
#define STOP_LOOK_NS   200000000ull
#define STOP_LOOKS     5

int boot_context_read(const struct attachment *self, struct boot_context *ret)
{
	return memory_read(self->target.memory, self->context, ret, sizeof(*ret)) &&
			       ret->magic == BOOT_MAGIC
		       ? 0
		       : -ENOENT;
}

static int fail_first_three(struct err *err)
{
	err_set(err, -EBADF, "its descriptors 0, 1 and 2 are not all open");
	err_why(err, "limpet's descriptors would get those numbers; a descriptor table of limpet's "
		     "own needs glibc, Linux 6.9, no seccomp filter against close_range, no open "
		     "message queue and no open file of FUSE, NFS or CIFS");
	err_fix(err, "open all three when you start it, for example on /dev/null");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

/* -EAGAIN in the target is one of its limits, which does not pass by itself. */
int boot_fail(const struct boot_context *boot, struct err *err)
{
	int error = boot->error >= 0 || boot->error < -ERROR_MAX ? -EPROTO : boot->error;

	if (!strncmp(boot->failed_call, BOOT_FIRST_THREE, sizeof(boot->failed_call)))
		return fail_first_three(err);
	err_set(err, error == -EAGAIN ? -ENOBUFS : error, "%.31s failed in the target: %s",
		boot->failed_call, strerror(-error));
	if (boot->text[0])
		err_why(err, "%.*s", (int)sizeof(boot->text), boot->text);
	return err->code;
}

/* limpet's thread has waited for the host in vain, and has unmapped its region. */
static int fail_late(struct err *err)
{
	err_set(err, -EAGAIN, "limpet's thread in the target gave up before limpet connected");
	err_why(err, "limpet got no CPU for many seconds");
	return err_fix(err, "try again");
}

/* Checks now and then whether job control has kept the process stopped all the time. */
struct stop_watch {
	uint64_t next_ns;
	unsigned stops;
};

static bool stays_stopped(struct stop_watch *watch, pid_t pid)
{
	struct process_status status;

	if (now_ns() < watch->next_ns)
		return false;
	watch->next_ns = now_ns() + STOP_LOOK_NS;
	watch->stops =
		status_read(pid, pid, &status, NULL) || status.state != 'T' ? 0 : watch->stops + 1;
	return watch->stops == STOP_LOOKS;
}

static int fail_stopped(const struct attachment *self, struct err *err)
{
	err_set(err, -EBUSY, "it was stopped by job control meanwhile");
	err_why(err, "limpet's thread in it cannot run; it ends when the process goes on");
	err_fix(err, "kill -CONT %d", self->target.process.pid);
	return err_exit(err, EXIT_BUSY);
}

int boot_await_socket(const struct attachment *self, struct boot_context *ret, struct err *err)
{
	uint64_t deadline_ns = now_ns() + START_LIMIT_NS;
	struct stop_watch watch = { now_ns() + STOP_LOOK_NS, 0 };

	while (now_ns() < deadline_ns) {
		if (!target_lives(&self->target) || boot_context_read(self, ret))
			return target_lives(&self->target) ? fail_late(err)
							   : target_fail_ended(err);
		if (ret->step == BOOT_FAILED)
			return boot_fail(ret, err);
		if (ret->step == BOOT_SOCKET_READY)
			return 0;
		if (stays_stopped(&watch, self->target.process.pid))
			return fail_stopped(self, err);
		sleep_ns(GLANCE_NS);
	}
	err_set(err, -ETIMEDOUT, "limpet's thread in the target does not start running");
	return err_why(err, "the process may be stopped, frozen or starved of CPU time");
}

/* From limpet's thread where that has a descriptor table of its own, else from the process: a
 * thread that has ended meanwhile has no descriptors any more; the process still has. */
int boot_take_socket(struct attachment *self, const struct boot_context *boot, struct err *err)
{
	struct target *target = &self->target;
	CLEANUP(close)
	int thread = boot->is_apart ? target_open_thread(target, boot->worker_tid) : -1;
	int fd = boot->is_apart && thread < 0
			 ? thread
			 : socket_take(target, boot->is_apart ? thread : target->thread_fd,
				       boot->socket, boot->socket_inode);

	if (fd == -ESRCH && !boot->is_apart) {
		target_choose_thread(target);
		fd = socket_take(target, target->thread_fd, boot->socket, boot->socket_inode);
	}
	if (fd == -ENOTSOCK)
		return err_set(
			err, -EBADF,
			"the program has closed limpet's socket or reused its descriptor number");
	if (fd < 0)
		return err_set(err, fd, "take the socket from the target: %s", strerror(-fd));
	self->link.socket = fd;
	return 0;
}

/*
 * A call returned EINTR (aarch64): was it interrupted by the injector's stop, or by a handler of
 * the target? The registers are the same. It was the stop if the thread was seen waiting in the
 * call just before (arch_plan_return compares). A thread that was still running then has entered
 * the call since; for calls whose first argument identifies its object there is other evidence. The
 * kernel still has that argument in the register; after a handler the register has the handler's
 * value. So the stop interrupted the call if the argument identifies an object to wait for, and no
 * handler's frame lies below the stack pointer. Sockets may have any number, even one left by a
 * handler on a stack of its own: that EINTR counts as real.
 */
#include "injector/injector.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAME_REACH  16384 /* large enough for a frame with SVE registers */
#define AIO_MAGIC_AT 16    /* in the ring mapped by io_setup(), part of the kernel's ABI */
#define AIO_MAGIC    0xa10a10a1u

static bool leads_to_epoll(const struct job *job, const struct blocked_call *call)
{
	char path[64], name[32] = "";

	if (call->nr != SYS_epoll_pwait && call->nr != SYS_epoll_pwait2)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", job->pid, job->tid,
		 (int)call->args[0]);
	return readlink(path, name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "anon_inode:[eventpoll]");
}

static bool leads_to_events(const struct stopped *self, const struct blocked_call *call)
{
	uint32_t magic;

	return call->nr == SYS_io_getevents &&
	       !memory_read(self, call->args[0] + AIO_MAGIC_AT, &magic, sizeof(magic)) &&
	       magic == AIO_MAGIC;
}

/* Unreadable memory below the stack counts as a frame, because nothing is known then. */
static bool handler_returned(const struct stopped *self)
{
	static unsigned char below[FRAME_REACH];
	uint64_t top = arch_stack_pointer(&self->state.regs);

	return memory_read(self, top - sizeof(below), below, sizeof(below)) ||
	       arch_has_signal_frame(&self->state, below, sizeof(below));
}

int cut_short_check(struct stopped *self, struct blocked_call *ret)
{
	struct job *job = self->job;
	int r = arch_show_call(job->tid, &self->state);

	if (r)
		return r;
	job_read_call(job, ret);
	if ((leads_to_epoll(job, ret) || leads_to_events(self, ret)) && !handler_returned(self))
		job->seen = *ret;
	return arch_hide_call(job->tid);
}

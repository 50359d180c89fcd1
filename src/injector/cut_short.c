/*
 * A call that returned EINTR (aarch64): did we cut it short, or a handler of the program's?  The
 * registers look the same.  Ours if the thread was seen waiting in it just before the stop
 * (arch_plan_return compares).  A thread that was still running then has entered it since; for
 * epoll_wait, the one such call that busy servers live in, there is other evidence: the first
 * argument still names an epoll descriptor, and no handler has left its frame below the stack
 * pointer.
 */
#include "injector/injector.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAME_REACH 16384 /* a frame with SVE registers fits */

static bool is_epoll(const struct job *job, const struct blocked_call *call)
{
	char path[64], name[32] = "";

	if (call->nr != SYS_epoll_pwait && call->nr != SYS_epoll_pwait2)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", job->pid, (int)call->args[0]);
	return readlink(path, name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "anon_inode:[eventpoll]");
}

/* Unreadable memory below the stack counts as a frame: then nothing is known. */
static bool handler_returned(const struct stopped *self)
{
	static unsigned char below[FRAME_REACH];
	uint64_t top = arch_stack_pointer(&self->state.regs);

	return memory_read(self, top - sizeof(below), below, sizeof(below)) ||
	       arch_has_signal_frame(&self->state, below, sizeof(below));
}

int cut_short_ask(struct stopped *self, struct blocked_call *ret)
{
	struct job *job = self->job;
	int r = arch_show_call(job->tid, &self->state);

	if (r)
		return r;
	job_read_call(job, ret);
	if (is_epoll(job, ret) && !handler_returned(self))
		job->seen = *ret;
	return arch_hide_call(job->tid);
}

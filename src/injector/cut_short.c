/*
 * A call that returned EINTR (aarch64): did we cut it short, or a handler of the program's?  The
 * registers look the same.  Ours if the thread was seen waiting in it just before the stop
 * (arch_plan_return compares).  A thread that was still running then has entered it since; for
 * calls whose first argument leads to what they wait for there is other evidence.  The kernel still
 * has that argument; after a handler it has what the handler left in that register instead.  So: it
 * leads to what the call waits for, and no handler has left its frame below the stack pointer.  Of
 * handlers on a stack of their own nothing is there: for sockets, which have any number, those that
 * handlers leave in that register (of their signal, 0, 1) are no evidence.
 */
#include "injector/injector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAME_REACH    16384 /* a frame with SVE registers fits */
#define AIO_MAGIC_AT   16    /* in the ring that io_setup() maps, part of the kernel's interface */
#define AIO_MAGIC      0xa10a10a1u
#define SIGNAL_NUMBERS 64

/* Calls that the kernel ends with EINTR itself, and what their descriptor is: others of its kind
 * are wound back where nobody handles a signal. */
static const struct {
	long nr;
	const char *file; /* as /proc names it */
	bool is_socket;
} waits[] = {
	{ SYS_epoll_pwait, "anon_inode:[eventpoll]", false },
	{ SYS_epoll_pwait2, "anon_inode:[eventpoll]", false },
	{ SYS_io_uring_enter, "anon_inode:[io_uring]", false },
	/* With a time limit of their own. */
	{ SYS_read, "socket:[", true },
	{ SYS_readv, "socket:[", true },
	{ SYS_write, "socket:[", true },
	{ SYS_writev, "socket:[", true },
	{ SYS_recvfrom, "socket:[", true },
	{ SYS_recvmsg, "socket:[", true },
	{ SYS_sendto, "socket:[", true },
	{ SYS_sendmsg, "socket:[", true },
	{ SYS_accept, "socket:[", true },
	{ SYS_accept4, "socket:[", true },
};

/* A signal that has a handler, or a small result. */
static bool is_usual_residue(const struct job *job, uint64_t number)
{
	static const char label[] = "SigCgt:";
	char text[4096];
	const char *at;

	job_read_proc(job, "status", text, sizeof(text));
	at = strstr(text, label);
	return !at || number <= STDERR_FILENO ||
	       (number <= SIGNAL_NUMBERS &&
		strtoull(at + strlen(label), NULL, 16) >> (number - 1) & 1);
}

static bool leads_to_file(const struct job *job, const struct blocked_call *call)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", job->pid, job->tid,
		 (int)call->args[0]);
	if (call->args[0] > INT32_MAX || readlink(path, name, sizeof(name) - 1) <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (waits[i].nr == call->nr && !strncmp(name, waits[i].file, strlen(waits[i].file)))
			return !waits[i].is_socket || !is_usual_residue(job, call->args[0]);
	return false;
}

static bool leads_to_events(const struct stopped *self, const struct blocked_call *call)
{
	uint32_t magic;

	return call->nr == SYS_io_getevents &&
	       !memory_read(self, call->args[0] + AIO_MAGIC_AT, &magic, sizeof(magic)) &&
	       magic == AIO_MAGIC;
}

/* Unreadable memory below the stack counts as a frame: then nothing is known. */
static bool handler_returned(const struct stopped *self)
{
	static unsigned char below[FRAME_REACH];
	uint64_t top = arch_stack_pointer(&self->state.regs);

	return memory_read(self, top - sizeof(below), below, sizeof(below)) ||
	       arch_has_signal_frame(&self->state, below, sizeof(below));
}

static bool has_entered(const struct stopped *self, const struct blocked_call *call)
{
	return (leads_to_file(self->job, call) || leads_to_events(self, call)) &&
	       !handler_returned(self);
}

int cut_short_ask(struct stopped *self, struct blocked_call *ret)
{
	struct job *job = self->job;
	int r = arch_show_call(job->tid, &self->state);

	if (r)
		return r;
	job_read_call(job, ret);
	if (has_entered(self, ret))
		job->seen = *ret;
	return arch_hide_call(job->tid);
}

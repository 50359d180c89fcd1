/*
 * The table behind calls.h, from the kernel's sources and from measurements (docs/attach.md).  The
 * same names on every machine; a machine that lacks a call lacks its line.
 */
#include "shared/arch/calls.h"

#include "shared/base/macros.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SYS_futex_waitv /* headers older than Linux 5.16 */
#define SYS_futex_waitv 449
#endif

struct call_line {
	int nr;
	enum syscall_kind kind;
};

static const struct call_line lines[] = {
	{ SYS_read, CALL_RESTARTS },
	{ SYS_readv, CALL_RESTARTS },
	{ SYS_write, CALL_RESTARTS },
	{ SYS_writev, CALL_RESTARTS },
	{ SYS_futex, CALL_SLEEPS },
	{ SYS_wait4, CALL_RESTARTS },
	{ SYS_waitid, CALL_RESTARTS },
	{ SYS_accept, CALL_RESTARTS },
	{ SYS_accept4, CALL_RESTARTS },
	{ SYS_recvfrom, CALL_RESTARTS },
	{ SYS_recvmsg, CALL_RESTARTS },
	{ SYS_sendto, CALL_RESTARTS },
	{ SYS_sendmsg, CALL_RESTARTS },
	{ SYS_recvmmsg, CALL_RESTARTS },
	{ SYS_sendmmsg, CALL_RESTARTS },
	{ SYS_connect, CALL_RESTARTS },
	{ SYS_preadv2, CALL_RESTARTS },
	{ SYS_pwritev2, CALL_RESTARTS },
	{ SYS_sendfile, CALL_RESTARTS },
	{ SYS_splice, CALL_RESTARTS },
	{ SYS_tee, CALL_RESTARTS },
	{ SYS_vmsplice, CALL_RESTARTS },
	{ SYS_futex_waitv, CALL_RESTARTS },
	{ SYS_flock, CALL_RESTARTS },
	{ SYS_mq_timedreceive, CALL_RESTARTS },
	{ SYS_mq_timedsend, CALL_RESTARTS },
	{ SYS_ppoll, CALL_NO_HANDLER },
	{ SYS_pselect6, CALL_NO_HANDLER },
	{ SYS_rt_sigsuspend, CALL_NO_HANDLER },
	{ SYS_nanosleep, CALL_SLEEPS },
	{ SYS_clock_nanosleep, CALL_SLEEPS },
	{ SYS_restart_syscall, CALL_SLEEPS },
	{ SYS_epoll_pwait, CALL_EINTR },
	{ SYS_epoll_pwait2, CALL_EINTR },
	{ SYS_semop, CALL_EINTR },
	{ SYS_semtimedop, CALL_EINTR },
	{ SYS_rt_sigtimedwait, CALL_EINTR },
	{ SYS_io_getevents, CALL_EINTR },
	{ SYS_io_pgetevents, CALL_NO_HANDLER },
	{ SYS_msgrcv, CALL_NO_HANDLER },
	{ SYS_msgsnd, CALL_NO_HANDLER },
	{ SYS_io_uring_enter, CALL_EINTR },
	{ SYS_exit, CALL_NEVER },
	{ SYS_exit_group, CALL_NEVER },
	{ SYS_execve, CALL_NEVER },
	{ SYS_execveat, CALL_NEVER },
	{ SYS_rt_sigreturn, CALL_NEVER },
	{ SYS_clone, CALL_NEVER },
	{ SYS_clone3, CALL_NEVER },
#ifdef SYS_poll
	{ SYS_poll, CALL_SLEEPS },
	{ SYS_select, CALL_NO_HANDLER },
	{ SYS_pause, CALL_NO_HANDLER },
	{ SYS_epoll_wait, CALL_EINTR },
	{ SYS_vfork, CALL_NEVER },
	{ SYS_fork, CALL_NEVER },
#endif
};

static bool futex_has_restart_block(const struct blocked_call *call)
{
	int command = (int)call->args[1] & FUTEX_CMD_MASK;

	return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && call->args[3];
}

bool call_has_restart_block(const struct blocked_call *call)
{
	switch (call->nr) {
	case SYS_clock_nanosleep:
		return !(call->args[1] & TIMER_ABSTIME);
	case SYS_futex:
		return futex_has_restart_block(call);
	default: /* nanosleep, poll with any time limit, restart_syscall itself */
		return syscall_kind(call->nr) == CALL_SLEEPS;
	}
}

/* MSG_WAITFORONE: it waits only as long as it has none. */
bool call_spoils_socket(const struct blocked_call *call)
{
	return call->nr == SYS_recvmmsg && (uint32_t)call->args[2] > 1 &&
	       !(call->args[3] & MSG_WAITFORONE);
}

enum syscall_kind syscall_kind(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].nr == nr)
			return lines[i].kind;
	return CALL_OTHER;
}

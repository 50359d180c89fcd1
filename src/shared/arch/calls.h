/*
 * How a system call behaves when a debugger stops the thread in it.  The host chooses the thread by
 * it, the injector puts the call back by it.
 */
#pragma once

#include "shared/arch/blocked_call.h"

enum syscall_kind {
	CALL_OTHER,      /* does not block for long, or is unknown: limpet never re-issues it */
	CALL_RESTARTS,   /* the kernel restarts it unless a handler without SA_RESTART ran; a socket
			  * with a time limit makes it return EINTR, as CALL_EINTR does */
	CALL_NO_HANDLER, /* ...unless any handler ran */
	CALL_SLEEPS,     /* restarts with the remaining time, through restart_syscall */
	CALL_EINTR,      /* returns EINTR even after a debugger's stop */
	CALL_NEVER,      /* do not stop a thread that is in it */
};

enum syscall_kind syscall_kind(long nr);

/* True when the kernel resumes the interrupted call through restart_syscall, which a seccomp filter
 * judges as a call of its own. */
bool call_has_restart_block(const struct blocked_call *call);

/* recvmmsg, which may have received messages already: a stop ends it with these, and the kernel
 * keeps the interruption as the socket's error.  The next call there fails with errno 512
 * (ERESTARTSYS), or with EINTR if the socket has a time limit. */
bool call_spoils_socket(const struct blocked_call *call);

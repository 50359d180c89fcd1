/*
 * Programs that live on EINTR: each endless wait is ended by a handler without SA_RESTART, by one
 * shot of a timer.  An EINTR that is swallowed leaves the program in its wait for ever; one that no
 * handler made is counted.  The call is made here and not in libc, so that the handler knows by its
 * place whether it came into the call or just before it, and then it shoots again.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define SHOT_US     1000
#define LIMIT_S     100000 /* of a socket: the kernel restarts no such call by itself */
#define STACK_BYTES 65536
#define HIGH_FD     100 /* no signal's number */

/* What it waits for. */
enum source { SOURCE_PIPE, SOURCE_EPOLL, SOURCE_SOCKET, SOURCE_INOTIFY, SOURCE_AIO };

struct wait {
	const char *name;
	long nr;
	long args[6]; /* without the first two, which say what it waits for */
	enum source source;
	int flags; /* of the handler */
};

extern const char interrupted_return[];

static _Atomic uint64_t hits;

#ifdef __aarch64__

__attribute__((noinline, noclone)) static long wait_call(long nr, const long *args)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = args[0];
	register long x1 __asm__("x1") = args[1];
	register long x2 __asm__("x2") = args[2];
	register long x3 __asm__("x3") = args[3];
	register long x4 __asm__("x4") = args[4];
	register long x5 __asm__("x5") = args[5];

	__asm__ volatile(".globl interrupted_return\n"
			 "	svc #0\n"
			 "interrupted_return:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static bool is_interrupted(const ucontext_t *context)
{
	return context->uc_mcontext.pc == (uintptr_t)interrupted_return &&
	       (long)context->uc_mcontext.regs[0] == -EINTR;
}

#else

__attribute__((noinline, noclone)) static long wait_call(long nr, const long *args)
{
	register long r10 __asm__("r10") = args[3];
	register long r8 __asm__("r8") = args[4];
	register long r9 __asm__("r9") = args[5];
	long result = nr;

	__asm__ volatile(".globl interrupted_return\n"
			 "	syscall\n"
			 "interrupted_return:"
			 : "+a"(result)
			 : "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static bool is_interrupted(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP] == (uintptr_t)interrupted_return &&
	       context->uc_mcontext.gregs[REG_RAX] == -EINTR;
}

#endif

static void timer_shoot(void)
{
	const struct itimerval once = { { 0, 0 }, { 0, SHOT_US } };

	setitimer(ITIMER_REAL, &once, NULL);
}

static void shot_handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (is_interrupted(context))
		atomic_fetch_add(&hits, 1);
	else
		timer_shoot();
}

static int pipe_make(void)
{
	int fds[2];

	return pipe(fds) < 0 ? -1 : fds[0];
}

static int socket_make(void)
{
	struct timeval limit = { LIMIT_S, 0 };
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 ||
			       setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) <
				       0
		       ? -1
		       : fcntl(fds[0], F_DUPFD, HIGH_FD);
}

/* The first argument of the call; -1: there is none. */
static long source_make(const struct wait *wait)
{
	aio_context_t aio = 0;

	switch (wait->source) {
	case SOURCE_EPOLL:
		return epoll_create1(EPOLL_CLOEXEC);
	case SOURCE_SOCKET:
		return socket_make();
	case SOURCE_INOTIFY:
		return inotify_init1(IN_CLOEXEC);
	case SOURCE_AIO:
		return syscall(SYS_io_setup, 1, &aio) ? -1 : (long)aio;
	default:
		return pipe_make();
	}
}

static void handler_set(int flags)
{
	struct sigaction action = { .sa_sigaction = shot_handle, .sa_flags = SA_SIGINFO | flags };
	static char memory[STACK_BYTES];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	if (sigaltstack(&stack, NULL) || sigaction(SIGALRM, &action, NULL))
		workload_fail("handler");
}

/* Exactly one hit and EINTR. */
static void turn_judge(const struct wait *wait, long result, uint64_t gained)
{
	atomic_fetch_add(&stats->signals_received, gained);
	if (result == -EINTR && !gained)
		atomic_fetch_add(&stats->eintr, 1);
	else if (result != -EINTR || gained != 1)
		errno = (int)-result, workload_fail(wait->name);
}

static void interrupted_run(const void *data)
{
	const struct wait *wait = data;
	char bytes[512]; /* for what never comes */
	long source = source_make(wait);
	struct pollfd poll = { .fd = (int)source, .events = POLLIN };
	long args[6] = { source, (long)bytes, wait->args[2], wait->args[3], wait->args[4], 0 };

	if (source == -1)
		workload_skip(wait->name);
	if (wait->nr == SYS_ppoll)
		args[0] = (long)&poll, args[1] = 1;
	if (wait->source == SOURCE_AIO)
		args[1] = 1, args[3] = (long)bytes;
	handler_set(wait->flags);
	workload_ready();
	for (;;) {
		uint64_t before = atomic_load(&hits);
		long result;

		timer_shoot();
		result = wait_call(wait->nr, args);
		turn_judge(wait, result, atomic_load(&hits) - before);
		workload_turn();
	}
}

/* Endless: no time limit anywhere. */
static const struct wait waits[] = {
	{ "epoll", SYS_epoll_pwait, { 0, 0, 1, -1, 0, 0 }, SOURCE_EPOLL, 0 },
	{ "read", SYS_read, { 0, 0, 1, 0, 0, 0 }, SOURCE_PIPE, 0 },
	{ "ppoll", SYS_ppoll, { 0, 0, 0, 0, 8, 0 }, SOURCE_PIPE, 0 },
	{ "recv", SYS_recvfrom, { 0, 0, 1, 0, 0, 0 }, SOURCE_SOCKET, 0 },
	{ "recv_altstack", SYS_recvfrom, { 0, 0, 1, 0, 0, 0 }, SOURCE_SOCKET, SA_ONSTACK },
	{ "inotify", SYS_read, { 0, 0, 512, 0, 0, 0 }, SOURCE_INOTIFY, 0 },
	{ "io_getevents", SYS_io_getevents, { 0, 0, 1, 0, 0, 0 }, SOURCE_AIO, 0 },
	{ "io_getevents_altstack", SYS_io_getevents, { 0, 0, 1, 0, 0, 0 }, SOURCE_AIO, SA_ONSTACK },
};

const struct workload workloads[] = {
	{ "epoll", interrupted_run, &waits[0] },
	{ "read", interrupted_run, &waits[1] },
	{ "ppoll", interrupted_run, &waits[2] },
	{ "recv", interrupted_run, &waits[3] },
	{ "recv_altstack", interrupted_run, &waits[4] },
	{ "inotify", interrupted_run, &waits[5] },
	{ "io_getevents", interrupted_run, &waits[6] },
	{ "io_getevents_altstack", interrupted_run, &waits[7] },
	{ NULL, NULL, NULL },
};

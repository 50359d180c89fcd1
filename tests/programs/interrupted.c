/*
 * Programs that live on EINTR: each endless wait is ended by a handler without SA_RESTART, by one
 * shot of a timer.  An EINTR that is swallowed leaves the program in its wait for ever; one that no
 * handler made is counted.  The call is made here and not in libc, so that the handler knows by its
 * place whether it came into the call or just before it, and then it shoots again.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define SHOT_US 1000

struct wait {
	const char *name;
	long nr;
	long args[6]; /* without the first two, which say what it waits for */
	bool is_epoll;
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

static int descriptor_make(const struct wait *wait)
{
	int fds[2];

	if (wait->is_epoll)
		return epoll_create1(EPOLL_CLOEXEC);
	return pipe(fds) < 0 ? -1 : fds[0];
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
	struct sigaction action = { .sa_sigaction = shot_handle, .sa_flags = SA_SIGINFO };
	struct epoll_event event;
	struct pollfd poll = { .fd = descriptor_make(wait), .events = POLLIN };
	long args[6] = { poll.fd, (long)&event, wait->args[2], wait->args[3], wait->args[4], 0 };

	if (poll.fd < 0)
		workload_skip(wait->name);
	if (wait->nr == SYS_ppoll)
		args[0] = (long)&poll, args[1] = 1;
	sigaction(SIGALRM, &action, NULL);
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
	{ "epoll", SYS_epoll_pwait, { 0, 0, 1, -1, 0, 0 }, true },
	{ "read", SYS_read, { 0, 0, 1, 0, 0, 0 }, false },
	{ "ppoll", SYS_ppoll, { 0, 0, 0, 0, 8, 0 }, false },
};

const struct workload workloads[] = {
	{ "epoll", interrupted_run, &waits[0] },
	{ "read", interrupted_run, &waits[1] },
	{ "ppoll", interrupted_run, &waits[2] },
	{ NULL, NULL, NULL },
};

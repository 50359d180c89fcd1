/*
 * Waiting with a deadline. A periodic timer interrupts waitid, so that a thread that never stops
 * (frozen, uninterruptible) cannot block the injector, and the usual case costs one system call.
 *
 * Stops are only peeked at (WNOWAIT). A stop has an exit code: what the thread does when it
 * continues. waitid without WNOWAIT clears it, and with it the signal being delivered: a tracer
 * that is killed before its PTRACE_CONT would lose the signal. If the tracer dies, an uncleared
 * code means to the kernel:
 *
 *   stop before a signal      that signal: delivered, with its siginfo
 *   system call               SIGTRAP | 0x80, no valid signal: nothing is sent. Only so with
 *                             PTRACE_O_TRACESYSGOOD, without it a SIGTRAP is sent
 *   event (interrupt, exec)   nothing: never read
 *   group stop                nothing: the thread joins the stop of its process again
 *
 * A peeked stop is reported again until the thread continues (PTRACE_CONT, SYSCALL, LISTEN,
 * DETACH); these replace the code, so that no stop is reported again after them.
 */
#include "injector/injector.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define TICK_US  10000
#define AWAKE_NS 40000

static void on_tick(int signal)
{
	(void)signal; /* only ends waitid with EINTR */
}

void wait_init(void)
{
	struct sigaction action = { .sa_handler = on_tick };
	struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
}

uint64_t wait_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Like waitpid: the thread's ID, 0 for nothing yet (WNOHANG), -1. All stops of a tracee are
 * CLD_TRAPPED, and the second byte of their status is the event. */
static pid_t stop_peek(pid_t tid, int flags, int *ret_status)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL | flags))
		return -1;
	*ret_status = info.si_code == CLD_TRAPPED ? info.si_status << 8 | 0x7f : 0;
	return info.si_pid;
}

/* Sleeping and waking costs more than the thread needs between two stops, so polls first. If that
 * fails, the thread shares this processor (or waits for another): then never again. */
static pid_t poll_stop(pid_t tid, int *ret_status)
{
	static bool is_worth_it = true;
	uint64_t limit_ns = is_worth_it ? wait_clock_ns() + AWAKE_NS : 0;
	pid_t r = 0;

	while (is_worth_it && r == 0) {
		r = stop_peek(tid, WNOHANG, ret_status);
		is_worth_it = r || wait_clock_ns() < limit_ns;
	}
	return r;
}

/* Its end is final, and its parent is notified only after the injector has reaped it. */
static int reap_thread(pid_t tid)
{
	waitpid(tid, NULL, __WALL | WNOHANG);
	return -ESRCH;
}

int wait_stop(pid_t tid, uint64_t deadline_ns, int *ret_status)
{
	for (;;) {
		pid_t r = poll_stop(tid, ret_status);

		if (r == 0)
			r = stop_peek(tid, 0, ret_status);
		if (r == tid)
			return WIFSTOPPED(*ret_status) ? 0 : reap_thread(tid);
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (wait_clock_ns() > deadline_ns)
			return -ETIMEDOUT;
	}
}

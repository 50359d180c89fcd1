/*
 * Waiting with a deadline.  A ticking timer interrupts waitid, so that a thread which never stops
 * (frozen, uninterruptible) cannot hold us, and the usual case costs one system call.
 *
 * Stops are only looked at (WNOWAIT).  A stop holds a word: what the thread does when it goes on.
 * waitpid clears the word, and with it the signal that is being delivered: a tracer that is killed
 * before its PTRACE_CONT takes the signal along.  A word that nobody cleared means to the kernel,
 * when the tracer dies,
 *
 *   stop before a signal      that signal: delivered, with all that it carries
 *   system call               SIGTRAP | 0x80, no valid signal: nothing is sent.  Only so with
 *                             PTRACE_O_TRACESYSGOOD, without it a SIGTRAP is sent
 *   event (interrupt, exec)   nothing: never read
 *   group stop                nothing: the thread joins the stop of its process again
 *
 * A stop that was looked at shows again until the thread goes on (PTRACE_CONT, SYSCALL, LISTEN,
 * DETACH); these replace the word, so that no stop is seen again after them.
 */
#include "injector/injector.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define TICK_US  10000
#define AWAKE_NS 40000

static void on_tick(int signal)
{
	(void)signal; /* only to end waitid with EINTR */
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

/* As waitpid: the thread's number, 0 for nothing yet (WNOHANG), -1.  Of a tracee all stops are
 * CLD_TRAPPED, and their status has the event in its second byte. */
static pid_t stop_peek(pid_t tid, int flags, int *ret_status)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL | flags))
		return -1;
	*ret_status = info.si_code == CLD_TRAPPED ? info.si_status << 8 | 0x7f : 0;
	return info.si_pid;
}

/* Sleeping and being woken costs more than what the thread does between two stops, so we look for
 * it awake first. In vain, it shares our processor (or has gone to wait for one): then never again.
 */
static pid_t look_awake(pid_t tid, int *ret_status)
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

/* Its end is for good, and its parent is not told of it before we have taken it. */
static int end_take(pid_t tid)
{
	waitpid(tid, NULL, __WALL | WNOHANG);
	return -ESRCH;
}

int wait_stop(pid_t tid, uint64_t deadline_ns, int *ret_status)
{
	for (;;) {
		pid_t r = look_awake(tid, ret_status);

		if (r == 0)
			r = stop_peek(tid, 0, ret_status);
		if (r == tid)
			return WIFSTOPPED(*ret_status) ? 0 : end_take(tid);
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (wait_clock_ns() > deadline_ns)
			return -ETIMEDOUT;
	}
}

/*
 * Waiting with a deadline.  A ticking timer interrupts waitpid, so that a thread which never stops
 * (frozen, uninterruptible) cannot hold us, and the usual case costs one system call.
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
	(void)signal; /* only to end waitpid with EINTR */
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

/* Sleeping and being woken costs more than what the thread does between two stops, so we look for
 * it awake first. In vain, it shares our processor (or has gone to wait for one): then never again.
 */
static pid_t look_awake(pid_t tid, int *ret_status)
{
	static bool is_worth_it = true;
	uint64_t limit_ns = is_worth_it ? wait_clock_ns() + AWAKE_NS : 0;
	pid_t r = 0;

	while (is_worth_it && r == 0) {
		r = waitpid(tid, ret_status, __WALL | WNOHANG);
		is_worth_it = r || wait_clock_ns() < limit_ns;
	}
	return r;
}

int wait_stop(pid_t tid, uint64_t deadline_ns, int *ret_status)
{
	for (;;) {
		pid_t r = look_awake(tid, ret_status);

		if (r == 0)
			r = waitpid(tid, ret_status, __WALL);
		if (r == tid)
			return WIFSTOPPED(*ret_status) ? 0 : -ESRCH;
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (wait_clock_ns() > deadline_ns)
			return -ETIMEDOUT;
	}
}

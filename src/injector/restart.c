/*
 * restart_syscall. A stop interrupts nanosleep, clock_nanosleep, poll and futex with a time limit,
 * and the kernel resumes these for the remaining time by making restart_syscall in the thread. A
 * seccomp filter also judges that call; one that does not list it kills the process, or fails the
 * wait. The filter can be read only during the stop, which is too late. So:
 *
 *   before   a thread with a filter is not interrupted in such a wait, unless another thread of
 *            the process, with as many filters, was found to allow restart_syscall
 *   after    a thread that has entered such a wait between the check and the interrupt is resumed
 *            with its filters suspended for this one call (PTRACE_O_SUSPEND_SECCOMP)
 */
#include "injector/injector.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

#define NS_PER_MS       1000000ull
#define LOOK_PAUSE_NS   40000
#define RESUME_LIMIT_NS 4000000000ull
#define SLEEP_LIMIT_NS  300000000ull
#define RESTART_BLOCK   516 /* the kernel's internal ERESTART_RESTARTBLOCK */
#define SYSCALL_STOP    (SIGTRAP | 0x80)

static unsigned long number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoul(at + strlen(label), NULL, 10) : 0;
}

/* After a stop, a supervisor (SECCOMP_RET_USER_NOTIF) gets the request again, and may do its work
 * twice. Not waited for: such a thread may be in its next request before the interrupt arrives. */
static bool waits_for_supervisor(const struct job *job)
{
	char text[128];

	job_read_proc(job, "wchan", text, sizeof(text));
	return strstr(text, "seccomp");
}

/* An unreadable call counts: the thread may be in any. */
static bool is_in_timed_wait(struct job *job)
{
	char text[256];

	job_read_proc(job, "syscall", text, sizeof(text));
	blocked_call_parse(text, &job->seen);
	return !text[0] || (job->seen.is_known && call_has_restart_block(&job->seen));
}

/* Reads the thread's filters and call again: both may have changed since the host's check. */
static bool is_stop_harmless(struct job *job)
{
	char text[4096];

	job_read_proc(job, "status", text, sizeof(text));
	job->has_filters = number_after(text, "\nSeccomp:") != 0;
	job->filters = (uint32_t)number_after(text, "\nSeccomp_filters:");
	if (!job->has_filters || job->facts.force || !job->facts.can_read_filters)
		return true;
	return (job->filters && job->filters == job->facts.filters_known) || !is_in_timed_wait(job);
}

int restart_await_harmless(struct job *job)
{
	uint64_t deadline_ns = wait_clock_ns() + job->look_ms * NS_PER_MS;
	struct timespec pause = { 0, LOOK_PAUSE_NS };

	while (!is_stop_harmless(job)) {
		do {
			if (wait_clock_ns() > deadline_ns)
				return job_fail(job, JOB_FILTERED_WAIT, 0);
			nanosleep(&pause, NULL);
		} while (is_in_timed_wait(job));
	}
	if (!job->has_filters || job->facts.force)
		return 0;
	if (!job->facts.can_read_filters)
		return job_fail(job, JOB_SECCOMP_UNREADABLE, EACCES);
	return waits_for_supervisor(job) ? job_fail(job, JOB_FILTERED_WAIT, 0) : 0;
}

/* Delivers signals until the thread enters a system call; an ignored signal does not end its
 * wait. */
static int await_entry(const struct stopped *self)
{
	uint64_t deadline_ns = wait_clock_ns() + RESUME_LIMIT_NS;
	int status, r, signal = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, self->job->tid, 0, signal))
			return -errno;
		r = wait_stop(self->job->tid, deadline_ns, &status);
		if (!r && status >> 16 && WSTOPSIG(status) != SIGTRAP)
			return -EBUSY; /* job control stops the process */
		signal = r || status >> 16 ? 0 : WSTOPSIG(status);
	} while (!r && signal != SYSCALL_STOP);
	return r;
}

static bool is_in_restart(const struct job *job)
{
	struct blocked_call call;

	job_read_call(job, &call);
	return call.is_known && call.nr == SYS_restart_syscall;
}

/* Most waits end soon: until then the thread stays traced, so that an ignored signal, which ends
 * the wait of a traced thread, can be handled. True if the thread sleeps for longer, past its
 * filters. */
static bool sleeps_on(const struct job *job)
{
	uint64_t deadline_ns = wait_clock_ns() + RESUME_LIMIT_NS;
	int status, r;

	do
		r = wait_stop(job->tid, wait_clock_ns() + SLEEP_LIMIT_NS, &status);
	while (r == -ETIMEDOUT && !is_in_restart(job) && wait_clock_ns() < deadline_ns);
	return r;
}

/* Runs the pending restart_syscall. 1: a signal has ended it, and another restart may follow; 0: it
 * has returned; -EINPROGRESS: the thread sleeps in it, or has ended. */
static int restart_run(const struct job *job)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_SYSCALL, job->tid, 0, 0) || sleeps_on(job) ||
	    arch_get_regs(job->tid, &regs))
		return -EINPROGRESS;
	return arch_syscall_result(&regs) == -RESTART_BLOCK;
}

static bool is_before_restart(const struct job *job)
{
	struct user_regs_struct regs;

	return !arch_get_regs(job->tid, &regs) && arch_syscall_number(&regs) == SYS_restart_syscall;
}

/* At the entry of a handler's call, or of the wait itself: PTRACE_DETACH there would interrupt
 * it. */
static int filters_resume(const struct job *job)
{
	ptrace(PTRACE_SETOPTIONS, job->tid, 0, PTRACE_O_TRACESYSGOOD);
	ptrace(PTRACE_CONT, job->tid, 0, 0);
	return -EINPROGRESS;
}

/* With PTRACE_SYSCALL no other call of the thread can bypass the suspended filters. A thread that
 * continues stays traced until the injector exits, which does not wake it: PTRACE_DETACH needs a
 * stop. */
void restart_release(const struct stopped *self)
{
	const struct job *job = self->job;
	bool is_suspended = !ptrace(PTRACE_SETOPTIONS, job->tid, 0,
				    PTRACE_O_TRACESYSGOOD | PTRACE_O_SUSPEND_SECCOMP);
	int r = is_suspended ? 1 : -errno;

	while (r == 1) {
		r = await_entry(self);
		if (!r)
			r = is_before_restart(job) ? restart_run(job) : filters_resume(job);
	}
	if (r != -EINPROGRESS)
		ptrace(PTRACE_DETACH, job->tid, 0, 0);
}

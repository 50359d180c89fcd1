/*
 * The single stop of one thread. Only SEIZE and INTERRUPT: no SIGSTOP, no SIGTRAP, nothing that the
 * target or its parent could notice. Earlier signals are delivered, never kept.
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

#define NS_PER_MS              1000000ull
#define WATCH_TURNS            3
#define WATCH_PAUSE_NS         30000
#define FILTERED_STOP_LIMIT_NS 5000000000ull

static bool is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

static bool is_group_stop(int status)
{
	return is_event_stop(status) && WSTOPSIG(status) != SIGTRAP;
}

static bool is_syscall_stop(int status)
{
	return WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* Continues until the injector's own stop; delivers earlier signals. */
static int await_event_stop(const struct stopped *self, uint64_t deadline_ns, int *ret_status)
{
	pid_t tid = self->job->tid;

	for (;;) {
		int r = wait_stop(tid, deadline_ns, ret_status);

		if (r || is_event_stop(*ret_status))
			return r;
		if (ptrace(PTRACE_CONT, tid, 0,
			   is_syscall_stop(*ret_status) ? 0 : WSTOPSIG(*ret_status)))
			return -errno;
	}
}

/* Catches a thread that mostly waits in its wait: the call must be known before the stop. */
static void watch_thread(struct job *job)
{
	struct timespec pause = { 0, WATCH_PAUSE_NS };

	for (unsigned i = 0; i < WATCH_TURNS; i++) {
		job_read_call(job, &job->seen);
		if (job->seen.is_known)
			return;
		nanosleep(&pause, NULL);
	}
}

static bool has_mask(const struct blocked_call *call)
{
	switch (call->nr) {
	case SYS_ppoll:
		return call->args[3];
	case SYS_pselect6:
		return call->args[5];
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return call->args[4];
	case SYS_rt_sigsuspend:
		return true;
	default:
		return false;
	}
}

static uint64_t mask_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoull(at + strlen(label), NULL, 16) : 0;
}

/* Calls like ppoll replace the thread's signal mask while they wait. Interrupting such a thread
 * restores its own mask for a moment, in which a signal blocked by the call's mask would be
 * delivered. So the thread is not stopped while one is pending. */
static bool signal_is_held_back(const struct job *job)
{
	char text[4096];

	if (!job->seen.is_known || !has_mask(&job->seen))
		return false;
	job_read_proc(job, "status", text, sizeof(text));
	return (mask_after(text, "SigPnd:") | mask_after(text, "ShdPnd:")) &
	       mask_after(text, "SigBlk:");
}

static int thread_seize(struct stopped *self)
{
	watch_thread(self->job);
	if (restart_await_harmless(self->job))
		return -1;
	if (signal_is_held_back(self->job) ||
	    (self->job->seen.is_known && call_spoils_socket(&self->job->seen)))
		return job_fail(self->job, JOB_LEAVE_ALONE, 0);
	if (ptrace(PTRACE_SEIZE, self->job->tid, 0, PTRACE_O_TRACESYSGOOD))
		return job_fail(self->job, errno == ESRCH ? JOB_GONE : JOB_NO_SEIZE, errno);
	if (ptrace(PTRACE_INTERRUPT, self->job->tid, 0, 0))
		return job_fail(self->job, JOB_GONE, errno);
	return 0;
}

void stop_release(struct stopped *self)
{
	if (self->is_understood && !self->is_changed &&
	    arch_let_go(self->job->tid, &self->state, &self->back))
		self->job->error = EIO;
	if (self->forbids_restart && arch_may_have_restart_block(&self->state))
		restart_release(self);
	else
		ptrace(PTRACE_DETACH, self->job->tid, 0, 0);
	if (self->stopped_at_ns)
		self->job->pause_ns = wait_clock_ns() - self->stopped_at_ns;
}

static int read_state(struct stopped *self)
{
	uint64_t ip;
	int r = arch_take(self->job->tid, &self->state);

	if (r)
		return r;
	ip = arch_instruction_pointer(&self->state.regs);
	return memory_read(self, ip - 4, self->state.code, sizeof(self->state.code));
}

/* Lets the thread enter the call that it is about to make, and interrupts it there: now its call is
 * known. -EAGAIN if something else happened in between. */
static int enter_call(struct stopped *self, uint64_t deadline_ns)
{
	uint64_t ip = arch_instruction_pointer(&self->state.regs);
	pid_t tid = self->job->tid;
	int status, r;

	if (ptrace(PTRACE_SYSCALL, tid, 0, 0))
		return -errno;
	r = wait_stop(tid, deadline_ns, &status);
	if (r)
		return r;
	if (!is_syscall_stop(status)) { /* a signal came first */
		ptrace(PTRACE_DETACH, tid, 0, is_event_stop(status) ? 0 : WSTOPSIG(status));
		return -ECANCELED;
	}
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || ptrace(PTRACE_CONT, tid, 0, 0))
		return -errno;
	r = await_event_stop(self, deadline_ns, &status);
	if (!r)
		r = read_state(self);
	if (!r && arch_instruction_pointer(&self->state.regs) != ip)
		r = -EAGAIN;
	return r;
}

static enum job_status status_of(int error)
{
	switch (error) {
	case -ESRCH:
		return JOB_GONE;
	case -ENOEXEC:
		return JOB_NOT_64_BIT;
	case -ETIMEDOUT:
		return JOB_NO_STOP;
	default:
		return JOB_LEAVE_ALONE;
	}
}

static int stop_understand(struct stopped *self, uint64_t deadline_ns)
{
	struct blocked_call cut = { 0 };
	long entered_nr = -1;
	int r = read_state(self);

	if (!r && !self->forbids_restart && arch_must_look_again(&self->state)) {
		entered_nr = arch_syscall_number(&self->state.regs);
		r = enter_call(self, deadline_ns);
	}
	if (!r && ptrace(PTRACE_GETSIGMASK, self->job->tid, sizeof(self->signal_mask),
			 &self->signal_mask))
		r = -errno;
	if (r)
		return r;
	if (arch_must_ask_argument(&self->state) && (r = cut_short_check(self, &cut)))
		return r;
	arch_plan_return(&self->state, &self->job->seen, &cut, entered_nr, &self->back);
	self->is_understood = true;
	return 0;
}

/* Checks the filters first: they decide how the thread can be released. */
static int stop_judge(struct stopped *self, uint64_t deadline_ns)
{
	int r;

	self->forbids_restart = seccomp_forbids_restart(self);
	r = stop_understand(self, deadline_ns);
	if (r)
		return job_fail(self->job, status_of(r), -r);
	if (!self->forbids_restart)
		return 0;
	self->job->nr = SYS_restart_syscall;
	return job_fail(self->job, JOB_SECCOMP, 0);
}

static uint64_t stop_deadline_ns(const struct job *job)
{
	return wait_clock_ns() + job->deadline_ms * NS_PER_MS;
}

static bool is_uninterruptible(const struct job *job)
{
	char text[4096];

	job_read_proc(job, "status", text, sizeof(text));
	return strstr(text, "\nState:\tD");
}

/* The interrupt may have ended a timed wait although the thread has not stopped yet, because other
 * threads use its processor. If the injector exited now, the kernel would make restart_syscall
 * under the thread's filters. An uninterruptible thread is in no such wait. */
static int await_own_stop(const struct stopped *self, int *ret_status)
{
	const struct job *job = self->job;
	uint64_t limit_ns = wait_clock_ns() + FILTERED_STOP_LIMIT_NS;
	int r;

	do
		r = await_event_stop(self, stop_deadline_ns(job), ret_status);
	while (r == -ETIMEDOUT && job->has_filters && !is_uninterruptible(job) &&
	       wait_clock_ns() < limit_ns);
	return r;
}

int stop_thread(struct stopped *self)
{
	uint64_t asked_ns = wait_clock_ns();
	int status, r = thread_seize(self);

	if (r)
		return r;
	r = await_own_stop(self, &status);
	if (r)
		return job_fail(self->job, status_of(r), -r);
	self->stopped_at_ns = wait_clock_ns();
	self->job->interrupt_ns = self->stopped_at_ns - asked_ns;
	if (is_group_stop(status))
		r = job_fail(self->job, JOB_STOPPED, 0);
	else
		r = stop_judge(self, stop_deadline_ns(self->job));
	if (r && self->job->error != ECANCELED)
		stop_release(self);
	return r;
}

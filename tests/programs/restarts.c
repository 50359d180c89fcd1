/*
 * Timed waits under filters that do not allow restart_syscall, which the kernel issues in a thread
 * that was stopped in such a wait: the filter kills the process, fails the wait, or hands the call
 * to somebody who never answers.  Waits that the kernel resumes otherwise are the controls.
 */
#define _GNU_SOURCE
#include "call.h"
#include "filter.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAITERS        4
#define CHILD_WAITS    3
#define CHILD_PAUSE_NS (50 * NS_PER_MS)
#define LATE_TURNS     12

enum who {
	ONE_THREAD,
	ALL_THREADS,   /* each has the filter and waits */
	OTHER_THREADS, /* the first thread has no filter, and waits in the same call */
};

struct row {
	const char *name;
	int (*once)(void);
	unsigned int action;
	enum who who;
};

static _Atomic int listener; /* of the filter's requests; 0: none yet */

static int nanosleep_once(void)
{
	return wait_result(nanosleep(&timeout, NULL), 0);
}

static int clock_once(void)
{
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &timeout, NULL);
}

static int absolute_once(void)
{
	uint64_t end = now_ns() + TIMEOUT_NS;
	struct timespec until = { (time_t)(end / NS_PER_S), (long)(end % NS_PER_S) };

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int poll_once(void)
{
	return wait_result(poll(NULL, 0, TIMEOUT_MS), 0);
}

static int ppoll_once(void)
{
	return wait_result(ppoll(NULL, 0, &timeout, NULL), 0);
}

static int select_once(void)
{
	struct timeval time = { 0, TIMEOUT_MS * 1000 };

	return wait_result(select(0, NULL, NULL, NULL, &time), 0);
}

static int futex_once(void)
{
	static int word;

	return wait_result(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout), ETIMEDOUT);
}

static void filter_put_on(const struct row *row)
{
	const struct rule list[] = { { SYS_restart_syscall, row->action }, END };
	bool is_asked = row->action == SECCOMP_RET_USER_NOTIF;

	filter_install_with(&(const struct rules){ ACTION_ALLOW, list },
			    is_asked ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0);
}

static void wait_once(const struct row *row)
{
	uint64_t start = now_ns();
	int result = row->once();

	result_count(row->name, result);
	if (result == 0)
		time_check(now_ns() - start, TIMEOUT_NS);
}

/* Something to trace, which the compiler leaves in. */
static void call_traced(void)
{
	void *volatile memory = malloc(1);

	free(memory);
}

static void *waiter_run(void *data)
{
	const struct row *row = data;

	if (row->who == OTHER_THREADS)
		filter_put_on(row);
	for (;;)
		wait_once(row);
	return NULL;
}

static void row_run(const void *data)
{
	const struct row *row = data;

	if (row->who != OTHER_THREADS)
		filter_put_on(row);
	for (unsigned i = 0; row->who != ONE_THREAD && i < WAITERS; i++)
		thread_start(waiter_run, (void *)(uintptr_t)row, 0);
	workload_ready();
	for (;;) {
		wait_once(row);
		call_traced();
		workload_turn();
	}
}

/* As a server does that confines the process of each connection. */
static void child_run(const struct row *row)
{
	filter_put_on(row);
	for (unsigned i = 0; i < CHILD_WAITS; i++)
		wait_once(row);
	_exit(0);
}

static void children_run(const void *data)
{
	workload_ready();
	for (;;) {
		pid_t pid = fork();
		int status;

		if (!pid)
			child_run(data);
		if (waitpid(pid, &status, 0) != pid || WIFSIGNALED(status))
			workload_fail("a child was killed");
		sleep_ns(CHILD_PAUSE_NS);
		workload_turn();
	}
}

/* Confines itself when it has run for a while. */
static void late_run(const void *data)
{
	const struct row *row = data;

	workload_ready();
	for (unsigned i = 0;; i++) {
		if (i == LATE_TURNS)
			filter_put_on(row);
		wait_once(row);
		call_traced();
		workload_turn();
	}
}

/* Answers each request of the first thread after a while.  A request is withdrawn when that thread
 * is stopped, and made once more: a supervisor that acts on requests would act twice. */
static void *supervisor_run(void *unused)
{
	(void)unused;
	while (!atomic_load(&listener))
		sleep_ns(NS_PER_MS);
	for (;;) {
		struct seccomp_notif request = { 0 };
		struct seccomp_notif_resp answer = { .val = 1 };

		if (ioctl(atomic_load(&listener), SECCOMP_IOCTL_NOTIF_RECV, &request))
			continue;
		sleep_ns(TIMEOUT_NS);
		answer.id = request.id;
		if (ioctl(atomic_load(&listener), SECCOMP_IOCTL_NOTIF_SEND, &answer))
			workload_fail("a request was withdrawn");
	}
	return NULL;
}

static void supervised_run(const void *data)
{
	const struct rule list[] = { { SYS_getppid, SECCOMP_RET_USER_NOTIF }, END };

	(void)data;
	thread_start(supervisor_run, NULL, 0);
	atomic_store(&listener, filter_install_with(&(const struct rules){ ACTION_ALLOW, list },
						    SECCOMP_FILTER_FLAG_NEW_LISTENER));
	workload_ready();
	for (;;) {
		if (syscall(SYS_getppid) != 1)
			workload_fail("getppid");
		workload_turn();
	}
}

#define ROW_OF(id, run, wait, action, who)                          \
	{                                                           \
#id, run, &(const struct row)                       \
		{                                                   \
#id, wait##_once, SECCOMP_RET_##action, who \
		}                                                   \
	}
#define ROW(id, wait, action, who) ROW_OF(id, row_run, wait, action, who)
#define ROWS(wait)                                                      \
	ROW(wait##_kill, wait, KILL_PROCESS, ONE_THREAD),               \
		ROW(wait##_kill_thread, wait, KILL_THREAD, ONE_THREAD), \
		ROW(wait##_trap, wait, TRAP, ONE_THREAD),               \
		ROW(wait##_errno, wait, ERRNO | EPERM, ONE_THREAD),     \
		ROW(wait##_trace, wait, TRACE, ONE_THREAD),             \
		ROW(wait##_notify, wait, USER_NOTIF, ONE_THREAD),       \
		ROW(wait##_log, wait, LOG, ONE_THREAD),                 \
		ROW(wait##_allow, wait, ALLOW, ONE_THREAD),             \
		ROW(wait##_kill_all, wait, KILL_PROCESS, ALL_THREADS),  \
		ROW(wait##_kill_other, wait, KILL_PROCESS, OTHER_THREADS)

const struct workload workloads[] = {
	ROWS(nanosleep),
	ROWS(clock),
	ROWS(poll),
	ROWS(futex),
	ROWS(absolute),
	ROWS(ppoll),
	ROWS(select),
	ROW_OF(children, children_run, nanosleep, KILL_PROCESS, ONE_THREAD),
	ROW_OF(late, late_run, nanosleep, KILL_PROCESS, ONE_THREAD),
	{ "supervised", supervised_run, NULL },
	{ NULL },
};

/*
 * One system call each, for ever: futexes, semaphores, signals that are waited for, and the rest of
 * the calls that an interrupted thread may leave with EINTR.  Single-threaded like calls.c.
 */
#define _GNU_SOURCE
#include "call.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int call_fd;
static int semaphore;
static aio_context_t aio;
static _Atomic uint32_t *word;

/* Futexes and semaphores. */

static void futex_prepare(void)
{
	void *page = mmap(NULL, sizeof(*word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		workload_skip("mmap");
	word = page;
}

static void futex_wake(void)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void woken_futex_prepare(void)
{
	futex_prepare();
	companion_start(futex_wake, WAKE_NS, NULL);
}

static int futex_once(void)
{
	return wait_result(syscall(SYS_futex, word, FUTEX_WAIT, 0, &timeout, NULL, 0), ETIMEDOUT);
}

static int futex_endless_once(void)
{
	uint32_t value = atomic_load(word);

	return wait_result(syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0), EAGAIN);
}

static void semaphore_wake(void)
{
	struct sembuf up = { 0, 1, 0 };

	if (semop(semaphore, &up, 1) < 0)
		workload_fail("companion: semop");
}

static void semaphore_remove(void)
{
	semctl(semaphore, 0, IPC_RMID);
}

static void nothing_wake(void)
{
}

static void semaphore_make(void (*wake)(void))
{
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	if (semaphore < 0)
		workload_skip("semget");
	companion_start(wake, WAKE_NS, semaphore_remove);
}

static void semaphore_prepare(void)
{
	semaphore_make(nothing_wake);
}

static void woken_semaphore_prepare(void)
{
	semaphore_make(semaphore_wake);
}

static int semtimedop_once(void)
{
	struct sembuf down = { 0, -1, 0 };

	return wait_result(semtimedop(semaphore, &down, 1, &timeout), EAGAIN);
}

static int semop_once(void)
{
	struct sembuf down = { 0, -1, 0 };

	return wait_result(semop(semaphore, &down, 1), 0);
}

/* Signals that are waited for. */

static void sigwait_prepare(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int sigtimedwait_once(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	return wait_result(sigtimedwait(&set, NULL, &timeout), EAGAIN);
}

static void queue_wake(void)
{
	uint64_t next = atomic_load(&stats->signals_sent) + 1;

	if (sigqueue(companion_owner(), SIGRTMIN, (union sigval){ .sival_int = (int)next }) == 0)
		atomic_store(&stats->signals_sent, next);
}

static void woken_sigwait_prepare(void)
{
	sigwait_prepare();
	companion_start(queue_wake, WAKE_NS, NULL);
}

static int sigwaitinfo_once(void)
{
	uint64_t expected = atomic_load(&stats->signals_received) + 1;
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	if (sigwaitinfo(&set, &info) < 0)
		return -errno;
	if (info.si_value.sival_int != (int)expected)
		atomic_fetch_add(&stats->signals_lost, 1);
	atomic_store(&stats->signals_received, (uint64_t)info.si_value.sival_int);
	return 0;
}

/* The rest. */

static void aio_prepare(void)
{
	if (syscall(SYS_io_setup, 8, &aio) < 0)
		workload_skip("io_setup");
}

static int io_getevents_once(void)
{
	struct io_event event;
	struct timespec time = timeout;

	return wait_result(syscall(SYS_io_getevents, aio, 1, 1, &event, &time), 0);
}

static void inotify_wake(void)
{
	int fd = open(workload_argv[2], O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

static void inotify_prepare(void)
{
	call_fd = inotify_init1(IN_CLOEXEC);
	if (call_fd < 0 || inotify_add_watch(call_fd, workload_argv[2], IN_OPEN) < 0)
		workload_skip("inotify");
	companion_start(inotify_wake, WAKE_NS, NULL);
}

static int inotify_once(void)
{
	struct inotify_event event;

	return byte_result(read(call_fd, &event, sizeof(event)), sizeof(event));
}

/* waitpid on a child that sleeps for a while and ends. */
static int waitpid_once(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		sleep_ns(TIMEOUT_NS);
		_exit(7);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : -EPROTO;
}

const struct workload workloads[] = {
	CALL(futex, futex_prepare, TIMEOUT_NS),
	CALL(futex_endless, woken_futex_prepare, 0),
	CALL(semtimedop, semaphore_prepare, TIMEOUT_NS),
	CALL(semop, woken_semaphore_prepare, 0),
	CALL(sigtimedwait, sigwait_prepare, TIMEOUT_NS),
	CALL(sigwaitinfo, woken_sigwait_prepare, 0),
	CALL(io_getevents, aio_prepare, TIMEOUT_NS),
	CALL(inotify, inotify_prepare, 0),
	CALL(waitpid, NULL, 0),
	{ NULL, NULL, NULL },
};

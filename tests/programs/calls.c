/*
 * One system call each, for ever: those that an interrupted thread leaves with EINTR, too early,
 * too late or with too few bytes when its stop is not undone well.  The target stays
 * single-threaded, so that it is this thread which is stopped; a companion process wakes the
 * endless calls.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#define TIMEOUT_MS 40
#define TIMEOUT_NS (TIMEOUT_MS * NS_PER_MS)
#define WAKE_NS    (40 * NS_PER_MS)
#define BULK       4096

struct call {
	const char *name;
	void (*prepare)(void);
	/* One call: 0 for the expected end, else -errno. */
	int (*once)(void);
	uint64_t timeout_ns; /* 0: the companion ends the call */
};

static const struct timespec timeout = { 0, TIMEOUT_NS };

static int pipe_fds[2];
static int call_fd;
static int semaphore;
static aio_context_t aio;
static _Atomic uint32_t *word;
static struct sockaddr_un address;

static int wait_result(long result, int timed_out_code)
{
	if (result == 0)
		return 0;
	if (result < 0 && errno == timed_out_code)
		return 0;
	return result < 0 ? -errno : -EPROTO;
}

static int byte_result(ssize_t result, ssize_t expected)
{
	if (result == expected)
		return 0;
	return result < 0 ? -errno : -EPROTO;
}

/* Sleeps. */

static int nanosleep_once(void)
{
	return wait_result(nanosleep(&timeout, NULL), 0);
}

static int clock_relative_once(void)
{
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &timeout, NULL);
}

static int clock_absolute_once(void)
{
	uint64_t end = now_ns() + TIMEOUT_NS;
	struct timespec until = { (time_t)(end / NS_PER_S), (long)(end % NS_PER_S) };

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Waits for descriptors. */

static void pipe_prepare(void)
{
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		workload_skip("pipe");
}

static void pipe_wake(void)
{
	if (write(pipe_fds[1], "x", 1) != 1)
		workload_fail("companion: write");
}

static void woken_pipe_prepare(void)
{
	pipe_prepare();
	companion_start(pipe_wake, WAKE_NS, NULL);
}

static int pipe_read_once(void)
{
	char byte;

	return byte_result(read(pipe_fds[0], &byte, 1), 1);
}

static int poll_once(void)
{
	struct pollfd entry = { .fd = pipe_fds[0], .events = POLLIN };

	return wait_result(poll(&entry, 1, TIMEOUT_MS), 0);
}

static int poll_endless_once(void)
{
	struct pollfd entry = { .fd = pipe_fds[0], .events = POLLIN };
	int result = poll(&entry, 1, -1);

	return result == 1 ? pipe_read_once() : wait_result(result, 0);
}

static int ppoll_once(void)
{
	struct pollfd entry = { .fd = pipe_fds[0], .events = POLLIN };

	return wait_result(ppoll(&entry, 1, &timeout, NULL), 0);
}

static int select_once(void)
{
	struct timeval time = { 0, TIMEOUT_MS * 1000 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return wait_result(select(pipe_fds[0] + 1, &set, NULL, NULL, &time), 0);
}

static int pselect_once(void)
{
	sigset_t none;
	fd_set set;

	sigemptyset(&none);
	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return wait_result(pselect(pipe_fds[0] + 1, &set, NULL, NULL, &timeout, &none), 0);
}

static void epoll_add(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	call_fd = epoll_create1(EPOLL_CLOEXEC);
	if (call_fd < 0 || epoll_ctl(call_fd, EPOLL_CTL_ADD, pipe_fds[0], &event) < 0)
		workload_skip("epoll");
}

static void epoll_prepare(void)
{
	pipe_prepare();
	epoll_add();
}

static void woken_epoll_prepare(void)
{
	woken_pipe_prepare();
	epoll_add();
}

static int epoll_once(void)
{
	struct epoll_event event;

	return wait_result(epoll_wait(call_fd, &event, 1, TIMEOUT_MS), 0);
}

static int epoll_endless_once(void)
{
	struct epoll_event event;
	int result = epoll_wait(call_fd, &event, 1, -1);

	return result == 1 ? pipe_read_once() : wait_result(result, 0);
}

static int epoll_pwait_once(void)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	return wait_result(epoll_pwait(call_fd, &event, 1, TIMEOUT_MS, &none), 0);
}

static int epoll_pwait2_once(void)
{
	struct epoll_event event;

	return wait_result(syscall(SYS_epoll_pwait2, call_fd, &event, 1, &timeout, NULL, 8), 0);
}

/* Transfers. */

static void bulk_write(void)
{
	static const char block[BULK];

	/* Without this end the companion dies of SIGPIPE when its owner is gone. */
	close(pipe_fds[0]);
	for (int i = 0; i < 64; i++) {
		if (write(pipe_fds[1], block, sizeof(block)) != BULK)
			workload_fail("companion: write");
	}
}

static void bulk_prepare(void)
{
	pipe_prepare();
	companion_start(bulk_write, NS_PER_MS, NULL);
	close(pipe_fds[1]);
}

static int bulk_once(void)
{
	char block[BULK];

	return byte_result(read(pipe_fds[0], block, sizeof(block)), BULK);
}

static void socket_prepare(void)
{
	struct timeval time = { 0, TIMEOUT_MS * 1000 };

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe_fds) < 0)
		workload_skip("socketpair");
	setsockopt(pipe_fds[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(pipe_fds[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

static int recv_once(void)
{
	char byte;

	return wait_result(recv(pipe_fds[0], &byte, 1, 0), EAGAIN);
}

static void full_socket_prepare(void)
{
	static const char block[BULK];

	socket_prepare();
	while (send(pipe_fds[0], block, sizeof(block), MSG_DONTWAIT) > 0)
		;
}

static int send_once(void)
{
	static const char block[BULK];

	return wait_result(send(pipe_fds[0], block, sizeof(block), 0), EAGAIN);
}

static void connect_wake(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		workload_fail("companion: connect");
	close(fd);
}

static void accept_prepare(void)
{
	address.sun_family = AF_UNIX;
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "workload-%d", getpid());
	call_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(call_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(call_fd, 8) < 0)
		workload_skip("listen");
	companion_start(connect_wake, WAKE_NS, NULL);
}

static int accept_once(void)
{
	int fd = accept4(call_fd, NULL, NULL, SOCK_CLOEXEC);

	return fd < 0 ? -errno : wait_result(close(fd), 0);
}

/* Futexes and semaphores. */

static void futex_prepare(void)
{
	void *page = mmap(NULL, BULK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

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

static void result_count(const char *name, int result)
{
	if (result == 0)
		return;
	if (result == -EINTR) {
		atomic_fetch_add(&stats->eintr, 1);
		return;
	}
	errno = -result;
	workload_fail(name);
}

/* Socket timeouts are counted in ticks of up to 10 ms; a cut wait is mostly off by more. */
static void time_check(uint64_t took_ns, uint64_t asked_ns)
{
	if (took_ns + 10 * NS_PER_MS < asked_ns)
		atomic_fetch_add(&stats->early, 1);
	if (took_ns > asked_ns && took_ns - asked_ns > atomic_load(&stats->max_late_ns))
		atomic_store(&stats->max_late_ns, took_ns - asked_ns);
}

static void call_run(const void *data)
{
	const struct call *call = data;

	if (call->prepare)
		call->prepare();
	workload_ready();
	for (;;) {
		uint64_t start = now_ns();
		int result = call->once();

		result_count(call->name, result);
		if (call->timeout_ns && result == 0)
			time_check(now_ns() - start, call->timeout_ns);
		workload_turn();
	}
}

#define CALL(id, prepare, timeout_ns)                       \
	{                                                   \
#id, call_run, &(const struct call)         \
		{                                           \
#id, prepare, id##_once, timeout_ns \
		}                                           \
	}

const struct workload workloads[] = {
	CALL(nanosleep, NULL, TIMEOUT_NS),
	CALL(clock_relative, NULL, TIMEOUT_NS),
	CALL(clock_absolute, NULL, TIMEOUT_NS),
	CALL(poll, pipe_prepare, TIMEOUT_NS),
	CALL(poll_endless, woken_pipe_prepare, 0),
	CALL(ppoll, pipe_prepare, TIMEOUT_NS),
	CALL(select, pipe_prepare, TIMEOUT_NS),
	CALL(pselect, pipe_prepare, TIMEOUT_NS),
	CALL(futex, futex_prepare, TIMEOUT_NS),
	CALL(futex_endless, woken_futex_prepare, 0),
	CALL(pipe_read, woken_pipe_prepare, 0),
	CALL(bulk, bulk_prepare, 0),
	CALL(epoll, epoll_prepare, TIMEOUT_NS),
	CALL(epoll_endless, woken_epoll_prepare, 0),
	CALL(epoll_pwait, epoll_prepare, TIMEOUT_NS),
	CALL(epoll_pwait2, epoll_prepare, TIMEOUT_NS),
	CALL(recv, socket_prepare, TIMEOUT_NS),
	CALL(send, full_socket_prepare, TIMEOUT_NS),
	CALL(accept, accept_prepare, 0),
	CALL(semtimedop, semaphore_prepare, TIMEOUT_NS),
	CALL(semop, woken_semaphore_prepare, 0),
	CALL(sigtimedwait, sigwait_prepare, TIMEOUT_NS),
	CALL(sigwaitinfo, woken_sigwait_prepare, 0),
	CALL(io_getevents, aio_prepare, TIMEOUT_NS),
	CALL(inotify, inotify_prepare, 0),
	CALL(waitpid, NULL, 0),
	{ NULL, NULL, NULL },
};

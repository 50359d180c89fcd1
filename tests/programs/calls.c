/*
 * One system call each, for ever: sleeps, waits for descriptors and transfers, which an interrupted
 * thread leaves with EINTR, too early, too late or with too few bytes when its stop is not undone
 * well.  The target stays single-threaded, so that it is this thread which is stopped; a companion
 * process wakes the endless calls.
 */
#define _GNU_SOURCE
#include "call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#define BULK 4096

static int pipe_fds[2];
static int call_fd;
static struct sockaddr_un address;

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

const struct workload workloads[] = {
	CALL(nanosleep, NULL, TIMEOUT_NS),
	CALL(clock_relative, NULL, TIMEOUT_NS),
	CALL(clock_absolute, NULL, TIMEOUT_NS),
	CALL(poll, pipe_prepare, TIMEOUT_NS),
	CALL(poll_endless, woken_pipe_prepare, 0),
	CALL(ppoll, pipe_prepare, TIMEOUT_NS),
	CALL(select, pipe_prepare, TIMEOUT_NS),
	CALL(pselect, pipe_prepare, TIMEOUT_NS),
	CALL(pipe_read, woken_pipe_prepare, 0),
	CALL(bulk, bulk_prepare, 0),
	CALL(epoll, epoll_prepare, TIMEOUT_NS),
	CALL(epoll_endless, woken_epoll_prepare, 0),
	CALL(epoll_pwait, epoll_prepare, TIMEOUT_NS),
	CALL(epoll_pwait2, epoll_prepare, TIMEOUT_NS),
	CALL(recv, socket_prepare, TIMEOUT_NS),
	CALL(send, full_socket_prepare, TIMEOUT_NS),
	CALL(accept, accept_prepare, 0),
	{ NULL, NULL, NULL },
};

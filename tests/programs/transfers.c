/*
 * One system call each, for ever: transfers and waits that end with EINTR when a stop interrupts
 * them, because a socket has a time limit, and calls beside them that the kernel restarts.
 * Single-threaded like calls.c.
 */
#define _GNU_SOURCE
#include "call.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

#define BLOCK         4096
#define FUTEX_32_BITS 2

/* As the kernel has it since 5.16. */
struct waited_word {
	uint64_t value, address;
	uint32_t flags, reserved;
};

static int call_fd, pipe_fds[2], many_fds[2], queue;
static struct sockaddr_un address;
static aio_context_t aio;
static char byte;
static struct iovec vector = { &byte, 1 };

/* Sockets with a time limit. */

static void limit_set(int fd)
{
	struct timeval time = { 0, TIMEOUT_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

static void pipe_prepare(void)
{
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		workload_skip("pipe");
}

/* The other end stays open and silent. */
static void empty_socket_prepare(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		workload_skip("socketpair");
	call_fd = fds[0];
	limit_set(call_fd);
	pipe_prepare();
}

static void full_socket_prepare(void)
{
	static const char block[BLOCK];

	empty_socket_prepare();
	while (send(call_fd, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	while (send(call_fd, block, 1, MSG_DONTWAIT) > 0)
		;
	if (write(pipe_fds[1], block, sizeof(block)) != sizeof(block))
		workload_skip("pipe");
}

static int readv_once(void)
{
	return wait_result(readv(call_fd, &vector, 1), EAGAIN);
}

static int writev_once(void)
{
	return wait_result(writev(call_fd, &vector, 1), EAGAIN);
}

/* An offset of -1: the call is readv() with flags. */
static int preadv2_once(void)
{
	return wait_result(preadv2(call_fd, &vector, 1, -1, 0), EAGAIN);
}

static int pwritev2_once(void)
{
	return wait_result(pwritev2(call_fd, &vector, 1, -1, 0), EAGAIN);
}

static int recvmsg_once(void)
{
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	return wait_result(recvmsg(call_fd, &message, 0), EAGAIN);
}

static int sendmsg_once(void)
{
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	return wait_result(sendmsg(call_fd, &message, 0), EAGAIN);
}

static int recvmmsg_once(void)
{
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &vector, .msg_iovlen = 1 } };

	return wait_result(recvmmsg(call_fd, &message, 1, 0, NULL), EAGAIN);
}

static void many_prepare(void)
{
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, many_fds) < 0)
		workload_skip("socketpair");
	limit_set(many_fds[0]);
}

/* One message has come already when it waits for the next; an error that stays on the socket would
 * be the next call's. */
static int recvmmsg_many_once(void)
{
	struct mmsghdr messages[2] = { { .msg_hdr = { .msg_iov = &vector, .msg_iovlen = 1 } },
				       { .msg_hdr = { .msg_iov = &vector, .msg_iovlen = 1 } } };
	int r = byte_result(send(many_fds[1], &byte, 1, 0), 1);

	if (!r)
		r = byte_result(recvmmsg(many_fds[0], messages, 2, 0, NULL), 1);
	if (!r)
		r = wait_result(recv(many_fds[0], &byte, 1, 0), EAGAIN);
	return r;
}

static int sendmmsg_once(void)
{
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &vector, .msg_iovlen = 1 } };

	return wait_result(sendmmsg(call_fd, &message, 1, 0), EAGAIN);
}

static void sendfile_prepare(void)
{
	full_socket_prepare();
	pipe_fds[0] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (pipe_fds[0] < 0)
		workload_skip("open");
}

static int sendfile_once(void)
{
	return wait_result(sendfile(call_fd, pipe_fds[0], &(off_t){ 0 }, 1), EAGAIN);
}

static int splice_in_once(void)
{
	return wait_result(splice(call_fd, NULL, pipe_fds[1], NULL, 1, 0), EAGAIN);
}

static int splice_out_once(void)
{
	return wait_result(splice(pipe_fds[0], NULL, call_fd, NULL, 1, 0), EAGAIN);
}

static int listen_make(int backlog)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sun_family = AF_UNIX;
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "transfers-%d", getpid());
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, backlog) < 0)
		workload_skip("listen");
	limit_set(fd);
	return fd;
}

/* The one place in the queue is taken. */
static void connect_prepare(void)
{
	int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)listen_make(0);
	if (connect(first, (struct sockaddr *)&address, sizeof(address)) < 0)
		workload_skip("connect");
	call_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	limit_set(call_fd);
}

static int connect_once(void)
{
	return wait_result(connect(call_fd, (struct sockaddr *)&address, sizeof(address)), EAGAIN);
}

static void accept_prepare(void)
{
	call_fd = listen_make(8);
}

static int accept_once(void)
{
	return wait_result(accept(call_fd, NULL, NULL), EAGAIN);
}

/* Calls that the kernel restarts, or restarts unless a handler runs. */

static void aio_prepare(void)
{
	if (syscall(SYS_io_setup, 8, &aio) < 0)
		workload_skip("io_setup");
}

static int io_pgetevents_once(void)
{
	struct io_event event;
	struct timespec time = timeout;

	return wait_result(syscall(SYS_io_pgetevents, aio, 1, 1, &event, &time, NULL), 0);
}

static struct timespec time_from_now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += TIMEOUT_NS;
	if (time.tv_nsec >= (long)NS_PER_S)
		time.tv_sec++, time.tv_nsec -= (long)NS_PER_S;
	return time;
}

static int futex_bitset_once(void)
{
	static uint32_t word;
	struct timespec until = time_from_now(CLOCK_MONOTONIC);

	return wait_result(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
				   &until, NULL, FUTEX_BITSET_MATCH_ANY),
			   ETIMEDOUT);
}

static int futex_waitv_once(void)
{
	static uint32_t word;
	const struct waited_word waited = { 0, (uintptr_t)&word, FUTEX_32_BITS, 0 };
	struct timespec until = time_from_now(CLOCK_MONOTONIC);

	return wait_result(syscall(SYS_futex_waitv, &waited, 1, 0, &until, CLOCK_MONOTONIC),
			   ETIMEDOUT);
}

static int futex_wait_once(void)
{
	static uint32_t word;
	struct timespec until = time_from_now(CLOCK_MONOTONIC);

	return wait_result(syscall(SYS_futex_wait, &word, 0L, 0xffffffffL, FUTEX_32_BITS, &until,
				   CLOCK_MONOTONIC),
			   ETIMEDOUT);
}

static void has_call_or_skip(int (*once)(void), const char *name)
{
	if (once() == -ENOSYS)
		workload_skip(name);
}

static void futex_waitv_prepare(void)
{
	has_call_or_skip(futex_waitv_once, "futex_waitv");
}

static void futex_wait_prepare(void)
{
	has_call_or_skip(futex_wait_once, "futex_wait");
}

static void queue_open(int mode)
{
	struct mq_attr shape = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	char name[32];

	snprintf(name, sizeof(name), "/transfers-%d", getpid());
	queue = mq_open(name, O_CREAT | O_CLOEXEC | mode, 0600, &shape);
	if (queue < 0)
		workload_skip("mq_open");
	mq_unlink(name);
}

static void mq_receive_prepare(void)
{
	queue_open(O_RDONLY);
}

static void mq_send_prepare(void)
{
	queue_open(O_WRONLY);
	if (mq_send(queue, &byte, 1, 0) < 0)
		workload_skip("mq_send");
}

static int mq_receive_once(void)
{
	struct timespec until = time_from_now(CLOCK_REALTIME);

	return wait_result(mq_timedreceive(queue, &byte, 1, NULL, &until), ETIMEDOUT);
}

static int mq_send_once(void)
{
	struct timespec until = time_from_now(CLOCK_REALTIME);

	return wait_result(mq_timedsend(queue, &byte, 1, 0, &until), ETIMEDOUT);
}

static void message_wake(void)
{
	struct msgbuf message = { .mtype = 1 };

	if (msgsnd(queue, &message, 0, 0) < 0)
		workload_fail("companion: msgsnd");
}

static void queue_remove(void)
{
	msgctl(queue, IPC_RMID, NULL);
}

static void msgrcv_prepare(void)
{
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0)
		workload_skip("msgget");
	companion_start(message_wake, WAKE_NS, queue_remove);
}

static int msgrcv_once(void)
{
	struct msgbuf message;

	return wait_result(msgrcv(queue, &message, 0, 0, 0), 0);
}

const struct workload workloads[] = {
	CALL(readv, empty_socket_prepare, TIMEOUT_NS),
	CALL(writev, full_socket_prepare, TIMEOUT_NS),
	CALL(preadv2, empty_socket_prepare, TIMEOUT_NS),
	CALL(pwritev2, full_socket_prepare, TIMEOUT_NS),
	CALL(recvmsg, empty_socket_prepare, TIMEOUT_NS),
	CALL(sendmsg, full_socket_prepare, TIMEOUT_NS),
	CALL(recvmmsg, empty_socket_prepare, TIMEOUT_NS),
	CALL(recvmmsg_many, many_prepare, 2 * TIMEOUT_NS),
	CALL(sendmmsg, full_socket_prepare, TIMEOUT_NS),
	CALL(sendfile, sendfile_prepare, TIMEOUT_NS),
	CALL(splice_in, empty_socket_prepare, TIMEOUT_NS),
	CALL(splice_out, full_socket_prepare, TIMEOUT_NS),
	CALL(connect, connect_prepare, TIMEOUT_NS),
	CALL(accept, accept_prepare, TIMEOUT_NS),
	CALL(io_pgetevents, aio_prepare, TIMEOUT_NS),
	CALL(futex_bitset, NULL, TIMEOUT_NS),
	CALL(futex_waitv, futex_waitv_prepare, TIMEOUT_NS),
	CALL(futex_wait, futex_wait_prepare, TIMEOUT_NS),
	CALL(mq_receive, mq_receive_prepare, TIMEOUT_NS),
	CALL(mq_send, mq_send_prepare, TIMEOUT_NS),
	CALL(msgrcv, msgrcv_prepare, 0),
	{ NULL, NULL, NULL },
};

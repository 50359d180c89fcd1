/*
 * Who closes a descriptor asks its file system, and of one in user space (FUSE) the answer may
 * never come: not even SIGKILL ends that wait.  So a child takes what the target has there, and
 * hands on what is a socket; everything else stays with the child, for as long as that takes.  Host
 * only.
 */
#include "host/attach/socket_take.h"

#include "host/attach/spawn.h"
#include "host/core/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child says; with 0 comes the socket. */
struct answer {
	struct iovec io;
	struct msghdr message;
	int code;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void answer_begin(struct answer *self)
{
	memset(self, 0, sizeof(*self));
	self->io = (struct iovec){ &self->code, sizeof(self->code) };
	self->message.msg_iov = &self->io;
	self->message.msg_iovlen = 1;
	self->message.msg_control = &self->control;
	self->message.msg_controllen = sizeof(self->control.bytes);
}

/* The child may stay for long: nobody must wait for what it would hold. */
static void close_all_but(int one, int other)
{
	unsigned low = (unsigned)MIN(one, other), high = (unsigned)MAX(one, other);

	if (low > 0)
		syscall(SYS_close_range, 0, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
}

static int take(int pidfd, int number, int *ret)
{
	socklen_t size = sizeof(int);
	int domain;

	*ret = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (*ret < 0)
		return -errno;
	return getsockopt(*ret, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX
		       ? -ENOTSOCK
		       : 0;
}

struct order {
	int pidfd, number, way;
};

/* In the child, with the parent's memory: only system calls, none of which can be cancelled. */
ON_LENT_STACK static int serve(void *argument)
{
	const struct order *order = argument;
	struct answer answer;
	int fd;

	close_all_but(order->pidfd, order->way);
	answer_begin(&answer);
	answer.code = take(order->pidfd, order->number, &fd);
	answer.control.header.cmsg_level = SOL_SOCKET;
	answer.control.header.cmsg_type = SCM_RIGHTS;
	answer.control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&answer.control.header), &fd, sizeof(fd));
	if (answer.code)
		answer.message.msg_controllen = 0;
	syscall(SYS_sendmsg, order->way, &answer.message, MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}

static int receive(int way)
{
	struct answer answer;
	ssize_t size;
	int fd;

	answer_begin(&answer);
	size = recvmsg(way, &answer.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size != (ssize_t)sizeof(answer.code))
		return -EIO;
	if (answer.code)
		return answer.code;
	if (answer.message.msg_controllen < CMSG_LEN(sizeof(int)))
		return -EMFILE; /* the kernel leaves out what finds no number */
	memcpy(&fd, CMSG_DATA(&answer.control.header), sizeof(fd));
	return fd;
}

/* The child has left our memory, and answered, before it closes what it took: one that has
 * something else than a socket is not waited for. */
static int take_by_child(int pidfd, int number)
{
	sigset_t mask;
	int ways[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ways))
		return -errno;
	pid = child_run(serve, &(struct order){ pidfd, number, ways[1] }, &mask);
	close(ways[1]);
	r = pid < 0 ? pid : receive(ways[0]);
	close(ways[0]);
	if (pid > 0)
		waitpid(pid, NULL, r == -ENOTSOCK ? __WALL | WNOHANG : __WALL);
	return r;
}

/* Where only ancestors may trace (Yama), a child of ours is none of the target's. */
static int take_as_ancestor(int pidfd, int number)
{
	int fd, r = take(pidfd, number, &fd);

	if (r && fd >= 0)
		close(fd);
	return r ? r : fd;
}

int socket_take(const struct target *target, int pidfd, int number)
{
	int r = take_by_child(pidfd, number);

	return r == -EPERM && target->process.rights.yama_scope == 1
		       ? take_as_ancestor(pidfd, number)
		       : r;
}

/*
 * Closing a descriptor calls its file system, and one in user space (FUSE) may never answer: not
 * even SIGKILL ends that wait.  So a child takes the target's descriptor, and passes on only a
 * socket; anything else stays in the child, for as long as closing takes.
 */
#include "host/attach/attachment.h"

#include "host/attach/children/spawn.h"
#include "host/core/cleanup.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child may hang for long: it must not hold descriptors that others wait to see closed. */
static void close_all_but(int one, int other)
{
	unsigned low = (unsigned)MIN(one, other), high = (unsigned)MAX(one, other);

	if (low > 0)
		syscall(SYS_close_range, 0, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
}

static int socket_take_one(int pidfd, int number, int *ret)
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
	int fd, code;

	close_all_but(order->pidfd, order->way);
	code = socket_take_one(order->pidfd, order->number, &fd);
	handover_send(order->way, code, fd);
	return 0;
}

/* The child has left limpet's memory, and answered, before it closes what it took: limpet does not
 * wait for a child that holds something else than a socket. */
static int fetch_by_child(int pidfd, int number)
{
	sigset_t mask;
	int ways[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ways))
		return -errno;
	pid = child_run(serve, &(struct order){ pidfd, number, ways[1] }, &mask);
	close(ways[1]);
	r = pid < 0 ? pid : handover_receive(ways[0]);
	close(ways[0]);
	if (pid > 0)
		waitpid(pid, NULL, r == -ENOTSOCK ? __WALL | WNOHANG : __WALL);
	return r;
}

/* Where Yama allows tracing to ancestors only, limpet's child may not: limpet itself takes it. */
static int fetch_as_ancestor(int pidfd, int number)
{
	int fd, r = socket_take_one(pidfd, number, &fd);

	if (r && fd >= 0)
		close(fd);
	return r ? r : fd;
}

/* The application may have closed the number and opened something else there, by accident or not:
 * the host must not talk to another program as if it were the agent. */
static bool is_expected(int fd, pid_t maker, uint64_t inode)
{
	struct ucred peer;
	socklen_t size = sizeof(int), peer_size = sizeof(peer);
	struct stat file;
	int type;

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET &&
	       !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) && peer.pid == maker &&
	       !fstat(fd, &file) && file.st_ino == inode;
}

int socket_take(const struct target *target, int pidfd, int number, uint64_t inode)
{
	CLEANUP(close) int fd = fetch_by_child(pidfd, number);

	if (fd == -EPERM && target->process.rights.yama_scope == 1)
		fd = fetch_as_ancestor(pidfd, number);
	if (fd >= 0 && !is_expected(fd, target->process.pid, inode))
		return -ENOTSOCK;
	return TAKE_FD(fd);
}

/*
 * Runs inside the target: no libc, no errno; calls interrupted by signals are repeated.
 */
#include "target/runtime/channel.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

static struct descriptor receive_descriptor(const struct msghdr *message)
{
	const struct cmsghdr *control = message->msg_control;
	const int *received = (const int *)(control + 1);

	if (message->msg_controllen < sizeof(*control) || control->cmsg_level != SOL_SOCKET ||
	    control->cmsg_type != SCM_RIGHTS || control->cmsg_len < CMSG_LEN(sizeof(int)))
		return descriptor_own(-1);
	return descriptor_own(*received);
}

long channel_receive(int socket, void *into, size_t room, struct descriptor *ret)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { into, room };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control };
	long r;

	*ret = descriptor_own(-1);
	do {
		message.msg_controllen = sizeof(control);
		r = raw3(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
	} while (r == -EINTR);
	if (r >= 0)
		*ret = receive_descriptor(&message);
	return r;
}

long channel_send(int socket, const void *bytes, size_t size)
{
	long r;

	do {
		r = raw6(SYS_sendto, socket, bytes, size, MSG_NOSIGNAL, 0, 0);
	} while (r == -EINTR);
	return r;
}

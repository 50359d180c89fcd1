/*
 * Runs inside the target: no libc, no errno, nothing that a signal could cut short in the middle.
 */
#include "target/runtime/channel.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define FD_BYTES (sizeof(int) * CHANNEL_FDS_MAX)

static void take_descriptors(const struct msghdr *message, struct descriptor fds[CHANNEL_FDS_MAX])
{
	const struct cmsghdr *control = message->msg_control;
	const int *received = (const int *)(control + 1);

	if (message->msg_controllen < sizeof(*control) || control->cmsg_level != SOL_SOCKET ||
	    control->cmsg_type != SCM_RIGHTS)
		return;
	for (unsigned i = 0; i < CHANNEL_FDS_MAX; i++)
		if (control->cmsg_len >= CMSG_LEN((i + 1) * sizeof(int)))
			fds[i] = descriptor_own(received[i]);
}

long channel_receive(int socket, void *into, size_t room, struct descriptor fds[CHANNEL_FDS_MAX])
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FD_BYTES)];
	} control;
	struct iovec io = { into, room };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control };
	long r;

	for (unsigned i = 0; i < CHANNEL_FDS_MAX; i++)
		fds[i] = descriptor_own(-1);
	do {
		message.msg_controllen = sizeof(control);
		r = raw3(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
	} while (r == -EINTR);
	if (r >= 0)
		take_descriptors(&message, fds);
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

void channel_close(struct descriptor fds[CHANNEL_FDS_MAX])
{
	for (unsigned i = 0; i < CHANNEL_FDS_MAX; i++)
		descriptor_close(&fds[i]);
}

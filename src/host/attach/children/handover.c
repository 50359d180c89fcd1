/*
 * One message with the code, and the descriptor beside it.
 */
#include "host/attach/children/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void handover_send(int way, int code, int fd)
{
	struct answer answer;

	answer_begin(&answer);
	answer.code = code;
	answer.control.header.cmsg_level = SOL_SOCKET;
	answer.control.header.cmsg_type = SCM_RIGHTS;
	answer.control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&answer.control.header), &fd, sizeof(fd));
	if (code)
		answer.message.msg_controllen = 0;
	syscall(SYS_sendmsg, way, &answer.message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int handover_receive(int way)
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
		return -EMFILE; /* no free number: the kernel drops the descriptor */
	memcpy(&fd, CMSG_DATA(&answer.control.header), sizeof(fd));
	return fd;
}

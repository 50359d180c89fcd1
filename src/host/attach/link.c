/*
 * Talks to the agent.  Host only; what the agent says is foreign and checked.
 */
#include "host/attach/link.h"

#include "host/core/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_LIMIT_NS 20000000000ull

static size_t count_fds(const int fds[LINK_FDS_MAX])
{
	size_t count = 0;

	while (fds && count < LINK_FDS_MAX && fds[count] >= 0)
		count++;
	return count;
}

int link_send(const struct link *link, const void *bytes, size_t size, const int fds[LINK_FDS_MAX],
	      struct err *err)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(LINK_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec io = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };
	size_t count = count_fds(fds);

	if (count) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	if (sendmsg(link->socket, &message, MSG_NOSIGNAL) == (ssize_t)size)
		return 0;
	return err_set(err, -errno, "send to the agent: %s", strerror(errno));
}

static int await_answer(const struct link *link, const struct target *target, struct err *err)
{
	struct pollfd wait[2] = { { link->socket, POLLIN, 0 }, { target->pidfd, POLLIN, 0 } };
	uint64_t deadline_ns = now_ns() + ANSWER_LIMIT_NS + link->patience_ms * 1000000ull;
	int r;

	do {
		r = poll(wait, 2, 100);
	} while ((r == 0 || (r < 0 && errno == EINTR)) && now_ns() < deadline_ns);
	if (wait[0].revents & POLLIN)
		return 0;
	if (r > 0)
		return err_set(err, -EPIPE, "the agent closed the connection");
	err_set(err, -ETIMEDOUT, "the agent does not answer");
	return err_why(err, "a thread of the program may hold the dynamic loader's lock");
}

static bool is_farewell(const struct control_reply *reply, ssize_t size)
{
	return size > 0 && !control_check(reply, (size_t)size) &&
	       reply->header.kind == CONTROL_REPLY && reply->header.sequence == CONTROL_FAREWELL;
}

bool link_has_farewell(const struct link *link)
{
	union {
		struct control_reply reply;
		char bytes[CONTROL_MAX_BYTES];
	} message;
	ssize_t size = recv(link->socket, &message, sizeof(message), MSG_PEEK | MSG_DONTWAIT);

	return is_farewell(&message.reply, size);
}

static int explain_farewell(struct err *err)
{
	err_set(err, -ENOTCONN,
		"limpet has left: the program changed its identity or confined itself");
	err_why(err, "limpet's threads must not keep rights that the program has given up");
	return err_fix(err, "attach again");
}

static int receive_answer(const struct link *link, uint32_t sequence, struct control_reply *ret,
			  struct err *err)
{
	union {
		struct control_reply reply;
		char bytes[CONTROL_MAX_BYTES];
	} message;
	ssize_t size = recv(link->socket, &message, sizeof(message), 0);

	if (size <= 0)
		return err_set(err, -EPIPE, "the agent closed the connection");
	if (is_farewell(&message.reply, size))
		return explain_farewell(err);
	if (control_check(&message, (size_t)size) || message.reply.header.kind != CONTROL_REPLY ||
	    message.reply.header.sequence != sequence)
		return err_set(err, -EPROTO, "the agent answers in another language");
	*ret = message.reply;
	return 0;
}

int link_ask(struct link *link, const struct target *target, struct control_header *message,
	     const int fds[LINK_FDS_MAX], struct control_reply *ret, struct err *err)
{
	int r;

	message->sequence = ++link->sequence;
	r = link_send(link, message, message->size, fds, err);
	if (!r)
		r = await_answer(link, target, err);
	if (!r)
		r = receive_answer(link, link->sequence, ret, err);
	if (r && link_has_farewell(link))
		return explain_farewell(err);
	if (r)
		target_prefer_end(target->pidfd, target->process.pid, err);
	if (r || !ret->code)
		return r ? err->code : 0;
	return err_set(err, ret->code, "%s", ret->text[0] ? ret->text : strerror(-ret->code));
}

int link_await_end(const struct link *link, const struct target *target, struct err *err)
{
	struct pollfd wait[2] = { { link->socket, POLLIN, 0 }, { target->pidfd, POLLIN, 0 } };
	uint64_t deadline_ns = now_ns() + ANSWER_LIMIT_NS + link->patience_ms * 1000000ull;
	int r;

	do {
		r = poll(wait, 2, 100);
	} while (r <= 0 && now_ns() < deadline_ns);
	return r > 0 ? 0 : err_set(err, -ETIMEDOUT, "the agent does not come to rest");
}

void link_close(struct link *link)
{
	if (link->socket >= 0)
		close(link->socket);
	link->socket = -1;
}

/*
 * Exchanges messages with the agent.  What the agent sends is foreign and checked; each wait has a
 * limit, for an answer as for room to send.
 */
#include "host/attach/link.h"

#include "host/attach/children/spawn.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_LIMIT_NS 10000000000ull
#define SEND_LIMIT_NS   5000000000ull
#define BUSY_NS         2000000000ull /* between tool calls of one order */
#define INTERRUPT_NS    500000000ull  /* a listening agent answers within this */
#define GLANCE_MS       100

/* How long an order may take. */
enum pace {
	PACE_QUICK, /* no tool is called */
	PACE_CALLS, /* while the agent's page shows a tool call in progress */
	PACE_LOADS, /* tools' constructors and destructors run, which the page does not show */
};

static const enum pace paces[] = {
	[CONTROL_LOAD] = PACE_LOADS,   [CONTROL_TABLES] = PACE_LOADS, [CONTROL_FOUND] = PACE_LOADS,
	[CONTROL_DETACH] = PACE_LOADS, [CONTROL_STEP] = PACE_CALLS,   [CONTROL_QUIET] = PACE_CALLS,
};

/* One wait for an answer. */
struct answer_wait {
	uint64_t begin_ns, deadline_ns, latest_ns;
	enum pace pace;
};

int link_lock(struct link *link, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (link->lock >= 0)
		close(link->lock);
	link->lock = blob_open("limpet-host", "", 0);
	if (link->lock < 0)
		return err_set(err, link->lock, "memory for a lock: %s", strerror(-link->lock));
	if (fcntl(link->lock, F_SETLK, &lock))
		return err_set(err, -errno, "lock: %s", strerror(errno));
	return 0;
}

/* 1 when the socket is ready, 0 when the target has ended or the time is over. */
static int await_ready(const struct link *link, const struct target *target, short events,
		       uint64_t deadline_ns)
{
	struct pollfd wait[2] = { { link->socket, events, 0 }, { target->pidfd, POLLIN, 0 } };
	int r;

	do {
		r = poll(wait, 2, GLANCE_MS);
	} while (r <= 0 && (r == 0 || errno == EINTR) && now_ns() < deadline_ns);
	return r > 0 && wait[0].revents;
}

static bool is_unready(ssize_t r)
{
	return r < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Never blocks in the kernel: another holder of a copy of the socket may fill or empty it. */
static int send_message(const struct link *link, const struct target *target,
			const struct msghdr *message)
{
	uint64_t deadline_ns = now_ns() + SEND_LIMIT_NS;
	ssize_t r;

	do {
		r = sendmsg(link->socket, message, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (is_unready(r) && await_ready(link, target, POLLOUT, deadline_ns) &&
		 now_ns() < deadline_ns);
	if (is_unready(r))
		return -ETIMEDOUT;
	if (r < 0)
		return -errno;
	return (size_t)r == message->msg_iov->iov_len ? 0 : -EPROTO;
}

static int fail_cut(struct err *err)
{
	err_set(err, -EPIPE, "the agent closed the connection");
	err_why(err,
		"the program may have closed limpet's socket, as daemons close all descriptors");
	return err_fix(err, "attach again");
}

int link_send(const struct link *link, const struct target *target, const void *bytes, size_t size,
	      int fd, struct err *err)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };
	int r;

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.bytes);
	}
	r = send_message(link, target, &message);
	if (r == -ETIMEDOUT) {
		err_set(err, r, "the agent does not read limpet's messages");
		return err_why(err, "the socket's buffer in the target is full");
	}
	if (r == -EPIPE || r == -ECONNRESET) /* ECONNRESET: it left an order unread */
		return fail_cut(err);
	return r ? err_set(err, r, "send to the agent: %s", strerror(-r)) : 0;
}

ssize_t link_receive(const struct link *link, const struct target *target, void *into, size_t room,
		     uint64_t limit_ns)
{
	uint64_t deadline_ns = now_ns() + limit_ns;
	ssize_t r = -1;

	errno = EAGAIN;
	while (is_unready(r) && await_ready(link, target, POLLIN, deadline_ns)) {
		r = recv(link->socket, into, room, MSG_DONTWAIT | MSG_TRUNC);
		if (is_unready(r) && now_ns() >= deadline_ns)
			break;
	}
	if (r > (ssize_t)room)
		return -EMSGSIZE;
	if (!is_unready(r))
		return r < 0 ? -errno : r;
	return target_lives(target) ? -ETIMEDOUT : 0;
}

static uint64_t answer_limit_ns(const struct link *link)
{
	return ANSWER_LIMIT_NS + link->patience_ms * 1000000ull;
}

/* Without access to the agent's page, only the longest limit counts. */
static struct answer_wait answer_begin(const struct link *link, uint32_t kind)
{
	uint64_t now = now_ns();
	struct answer_wait wait = { now, now + ANSWER_LIMIT_NS, now + answer_limit_ns(link),
				    kind < ARRAY_SIZE(paces) ? paces[kind] : PACE_QUICK };

	if ((wait.pace == PACE_LOADS && link->has_tools) ||
	    (wait.pace == PACE_CALLS && !link->resident))
		wait.deadline_ns = wait.latest_ns;
	return wait;
}

static bool tool_is_called(const struct link *link, const struct target *target)
{
	struct resident now;

	if (!link->resident)
		return false;
	now = *link->resident;
	if (resident_refresh(target, &now))
		return false;
	for (unsigned i = 0; i < now.page.tool_count; i++)
		if (now.page.tools[i].is_inside)
			return true;
	return false;
}

/* 0 while waiting makes sense; -ETIMEDOUT; -EINTR. */
static int answer_judge(const struct link *link, const struct target *target,
			struct answer_wait *wait)
{
	uint64_t now = now_ns();

	if (interrupt_is_waiting() && now > wait->begin_ns + INTERRUPT_NS)
		return -EINTR;
	if (now + BUSY_NS > wait->deadline_ns && wait->pace == PACE_CALLS &&
	    tool_is_called(link, target))
		wait->deadline_ns = MIN(now + BUSY_NS, wait->latest_ns);
	return now < wait->deadline_ns ? 0 : -ETIMEDOUT;
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
	} message = { 0 };
	ssize_t size;

	if (link->has_farewell)
		return true;
	size = recv(link->socket, &message, sizeof(message), MSG_PEEK | MSG_DONTWAIT);
	return is_farewell(&message.reply, size);
}

int link_explain_farewell(struct err *err)
{
	err_set(err, -ENOTCONN,
		"limpet detached: the program changed its user, capabilities, root, namespaces or filters");
	err_why(err, "limpet's threads must not keep rights that the program has given up");
	return err_fix(err, "attach again");
}

static int fail_silent(struct link *link, int code, struct err *err)
{
	link->is_silent = true;
	if (code == -EINTR)
		return err_set(err, code, "interrupted before the agent had answered");
	err_set(err, -ETIMEDOUT, "the agent does not answer");
	err_why(err, "a thread of the program may hold the dynamic loader's lock, or the program "
		     "reads from limpet's socket; the agent detaches by itself");
	return err->code;
}

/* As link_receive(), for as long as the order may take. */
static ssize_t await_answer(const struct link *link, const struct target *target, uint32_t kind,
			    void *into, size_t room)
{
	struct answer_wait wait = answer_begin(link, kind);
	ssize_t size;
	int r = 0;

	do {
		size = link_receive(link, target, into, room, GLANCE_MS * 1000000ull);
		if (size == -ETIMEDOUT)
			r = answer_judge(link, target, &wait);
	} while (size == -ETIMEDOUT && !r);
	return r ? r : size;
}

static int receive_answer(struct link *link, const struct target *target, uint32_t kind,
			  struct control_reply *ret, struct err *err)
{
	union {
		struct control_reply reply;
		char bytes[CONTROL_MAX_BYTES];
	} message = { 0 };
	ssize_t size = await_answer(link, target, kind, &message, sizeof(message));

	if (size == -ETIMEDOUT || size == -EINTR)
		return fail_silent(link, (int)size, err);
	if (size <= 0)
		return fail_cut(err);
	link->has_farewell = is_farewell(&message.reply, size);
	if (link->has_farewell)
		return link_explain_farewell(err);
	if (control_check(&message, (size_t)size) || message.reply.header.kind != CONTROL_REPLY ||
	    message.reply.header.sequence != link->sequence)
		return err_set(err, -EPROTO, "the answer of the agent is malformed");
	*ret = message.reply;
	return 0;
}

int link_request(struct link *link, const struct target *target, struct control_header *message,
		 int fd, struct control_reply *ret, struct err *err)
{
	int r;

	if (link->is_silent)
		return fail_silent(link, -ETIMEDOUT, err);
	message->sequence = ++link->sequence;
	r = link_send(link, target, message, message->size, fd, err);
	link->is_silent = r == -ETIMEDOUT;
	if (!r)
		r = receive_answer(link, target, message->kind, ret, err);
	else if (r == -EPIPE) /* a detaching agent no longer reads, but its last message may wait */
		await_ready(link, target, POLLIN, now_ns() + answer_limit_ns(link));
	if (r && link_has_farewell(link))
		return link_explain_farewell(err);
	if (r)
		target_prefer_end(target->pidfd, target->process.pid, err);
	if (r || !ret->code)
		return r ? err->code : 0;
	return err_set(err, ret->code, "%s", ret->text[0] ? ret->text : strerror(-ret->code));
}

int link_await_end(const struct link *link, const struct target *target, struct err *err)
{
	uint64_t deadline_ns = now_ns() + answer_limit_ns(link);

	if (await_ready(link, target, POLLIN, deadline_ns) || !target_lives(target))
		return 0;
	return err_set(err, -ETIMEDOUT, "the agent does not finish detaching");
}

void link_close(struct link *link)
{
	if (link->socket >= 0)
		close(link->socket);
	if (link->lock >= 0)
		close(link->lock);
	link->socket = link->lock = -1;
	link->has_farewell = link->is_silent = false;
}

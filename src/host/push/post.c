/*
 * Plain HTTP over a socket.
 */
#include "host/push/post.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_MAX (ADDRESS_HOST_MAX + ADDRESS_PATH_MAX + 512u)

int push_post_wait(const struct push_post *post, int fd, short events)
{
	struct pollfd fds[] = { { fd, events, 0 }, { post->cancel, POLLIN, 0 } };

	for (;;) {
		uint64_t now = now_ns();

		if (now >= post->until_ns)
			return -ETIMEDOUT;
		poll(fds, 2, (int)MIN((post->until_ns - now) / 1000000 + 1, 1000u));
		if (fds[1].revents)
			return -ECANCELED;
		if (fds[0].revents)
			return 0;
	}
}

int push_post_end_early(const struct push_post *post, int code, const char *bytes, size_t size,
			struct push_answer *ret)
{
	bool wants_body = post->address->format->judge;

	if (push_answer_parse(bytes, size, /* is_end */ true, wants_body, ret))
		return code;
	ret->is_cut = true;
	return 0;
}

int push_post_explain(const struct push_post *post, int code, struct err *err)
{
	err_set(err, code, "push to %s: %s", post->address->url,
		code == -ETIMEDOUT ? "no answer in time"
		: code == -EPROTO  ? "what answers there does not speak HTTP"
				   : strerror(-code));
	return code;
}

static int socket_connect(const struct push_post *post)
{
	const struct push_address *address = post->address;
	CLEANUP(close)
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r, error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address->socket, address->socket_size) &&
	    errno != EINPROGRESS)
		return -errno;
	r = push_post_wait(post, fd, POLLOUT);
	if (!r && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof(error) }))
		r = -errno;
	return r ? r : error ? -error : TAKE_FD(fd);
}

/* A server that refuses may answer, and close, before it has read all. */
static int socket_send(const struct push_post *post, int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		int r;

		if (sent > 0) {
			at += sent;
			size -= (size_t)sent;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return 0;
		r = errno == EAGAIN  ? push_post_wait(post, fd, POLLOUT)
		    : errno == EINTR ? 0
				     : -errno;
		if (r)
			return r;
	}
	return 0;
}

static int socket_answer(const struct push_post *post, int fd, struct push_answer *ret)
{
	char bytes[ANSWER_MAX];
	size_t size = 0;
	int r = -EAGAIN;

	while (r == -EAGAIN) {
		ssize_t got;

		r = push_post_wait(post, fd, POLLIN);
		if (r)
			return push_post_end_early(post, r, bytes, size, ret);
		got = recv(fd, bytes + size, sizeof(bytes) - size, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			r = -EAGAIN;
			continue;
		}
		/* A server that answers before it read everything may reset the connection after
		 * its answer. */
		if (got < 0)
			return push_post_end_early(post, -errno, bytes, size, ret);
		if (!got && !size)
			return -ECONNRESET;
		size += (size_t)got;
		r = push_answer_parse(bytes, size, !got || size == sizeof(bytes),
				      post->address->format->judge, ret);
	}
	return r;
}

static size_t head_make(const struct push_post *post, char *ret, size_t room)
{
	const struct push_format *format = post->address->format;
	const char *encoding = format->content_encoding;
	int size = snprintf(ret, room,
			    "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: limpet\r\n"
			    "Content-Type: %s\r\nContent-Length: %zu\r\n"
			    "%s%s%s%s%s%sConnection: close\r\n\r\n",
			    post->address->path, post->address->host, format->content_type,
			    post->body->size, encoding ? "Content-Encoding: " : "",
			    encoding ? encoding : "", encoding ? "\r\n" : "",
			    post->tenant ? "X-Scope-OrgID: " : "", post->tenant ? post->tenant : "",
			    post->tenant ? "\r\n" : "");

	return MIN((size_t)size, room - 1);
}

int push_post_direct(const struct push_post *post, struct push_answer *ret, struct err *err)
{
	CLEANUP(close) int fd = socket_connect(post);
	char head[REQUEST_MAX];
	size_t size = head_make(post, head, sizeof(head));
	int r = fd < 0 ? fd : socket_send(post, fd, head, size);

	if (!r)
		r = socket_send(post, fd, post->body->data, post->body->size);
	if (!r)
		r = socket_answer(post, fd, ret);
	return r ? push_post_explain(post, r, err) : 0;
}

int push_post(const struct push_post *post, struct push_answer *ret, struct err *err)
{
	return post->address->is_direct ? push_post_direct(post, ret, err)
					: push_post_curl(post, ret, err);
}

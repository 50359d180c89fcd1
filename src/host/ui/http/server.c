/*
 * The loop of the HTTP process.  A connection reads a request, waits for its answer and writes it
 * with one call: a head that is sent alone would cost 40 ms (Nagle and delayed acknowledgements).
 */
#include "host/ui/http/server.h"

#include "host/core/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUEST_LIMIT_NS UINT64_C(5000000000)  /* for a whole request, from its first byte on */
#define IDLE_LIMIT_NS    UINT64_C(15000000000) /* between two */
#define SEND_LIMIT_NS    UINT64_C(30000000000) /* without any progress */
#define WAIT_LIMIT_NS    UINT64_C(600000000000)
/* Fewer than there are slots: the bytes of an accepted connection are read before others may evict
 * it. */
#define ACCEPTS_AT_ONCE 8u
#define BUFFER_SIZE     (HTTP_HEAD_MAX + HTTP_BODY_MAX)
#define TICK_MS         500
#define EVENTS_AT_ONCE  16
#define SLOT_BITS       8u
#define SLOT_MASK       ((1u << SLOT_BITS) - 1)

enum connection_state {
	CONNECTION_FREE,
	CONNECTION_READING,
	CONNECTION_WAITING, /* for the handler's answer */
	CONNECTION_SENDING,
};

struct connection {
	int fd;
	enum connection_state state;
	uint32_t generation; /* distinguishes answers for an earlier one */
	bool is_last;
	bool is_known; /* it has shown the token */
	uint64_t opened_ns, deadline_ns;
	char *buffer;
	size_t used;
	char head[HTTP_ANSWER_HEAD_MAX];
	size_t head_size, sent, body_size;
	struct http_body body;
};

struct http_server {
	struct http_server_options options;
	int epoll;
	bool is_over;
	struct connection connections[HTTP_CONNECTIONS_MAX];
};

/* epoll's data: connections by their tags, whose last byte is the slot, then the listeners, then
 * the handler. */
enum { EVENT_LISTENER = HTTP_CONNECTIONS_MAX, EVENT_HANDLER = EVENT_LISTENER + HTTP_LISTENERS_MAX };

static int event_watch(struct http_server *self, int operation, int fd, uint32_t events,
		       uint64_t what)
{
	struct epoll_event event = { .events = events, .data.u64 = what };

	return epoll_ctl(self->epoll, operation, fd, &event) < 0 ? -errno : 0;
}

static uint64_t tag_of(const struct http_server *self, const struct connection *connection)
{
	size_t slot = (size_t)(connection - self->connections);

	return (uint64_t)connection->generation << SLOT_BITS | slot;
}

static void connection_watch(struct http_server *self, struct connection *connection,
			     uint32_t events)
{
	(void)event_watch(self, EPOLL_CTL_MOD, connection->fd, events, tag_of(self, connection));
}

static void body_release(struct connection *connection)
{
	if (connection->body.is_mapped)
		munmap((void *)(uintptr_t)connection->body.at, connection->body_size);
	connection->body = (struct http_body){ 0 };
}

static void connection_close(struct connection *connection)
{
	body_release(connection);
	close(connection->fd);
	free(connection->buffer);
	*connection = (struct connection){ .fd = -1, .generation = connection->generation + 1 };
}

static bool is_free(const struct connection *connection)
{
	return connection->state == CONNECTION_FREE;
}

static bool is_stranger(const struct connection *connection)
{
	return !is_free(connection) && !connection->is_known;
}

/* Its client has sent no request. */
static bool is_idle(const struct connection *connection)
{
	return connection->state == CONNECTION_READING && !connection->used;
}

/* The oldest among those; NULL: there is none. */
static struct connection *connection_oldest(struct http_server *self,
					    bool (*is_meant)(const struct connection *))
{
	struct connection *oldest = NULL;

	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		if (is_meant(&self->connections[i]) &&
		    (!oldest || self->connections[i].opened_ns < oldest->opened_ns))
			oldest = &self->connections[i];
	return oldest;
}

/* A free slot, or that of a client to be dropped: first one without the token, busy or not, then an
 * idle one.  NULL: all are busy. */
static struct connection *slot_find(struct http_server *self)
{
	struct connection *found = connection_oldest(self, is_free);

	if (found)
		return found;
	found = connection_oldest(self, is_stranger);
	if (!found)
		found = connection_oldest(self, is_idle);
	if (found)
		connection_close(found);
	return found;
}

static void connection_open(struct http_server *self, int fd)
{
	struct connection *connection = slot_find(self);

	if (!connection ||
	    event_watch(self, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, tag_of(self, connection))) {
		close(fd);
		return;
	}
	*connection = (struct connection){
		.fd = fd,
		.state = CONNECTION_READING,
		.generation = connection->generation,
		.opened_ns = now_ns(),
		.deadline_ns = now_ns() + REQUEST_LIMIT_NS,
	};
}

static void listener_accept(struct http_server *self, int listener)
{
	for (unsigned i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		connection_open(self, fd);
	}
}

static struct connection *connection_find(struct http_server *self, uint64_t tag)
{
	size_t slot = tag & SLOT_MASK;

	if (slot >= HTTP_CONNECTIONS_MAX || self->connections[slot].state != CONNECTION_WAITING ||
	    self->connections[slot].generation != tag >> SLOT_BITS)
		return NULL;
	return &self->connections[slot];
}

/* Ready for the next request. */
static void connection_continue(struct http_server *self, struct connection *connection)
{
	body_release(connection);
	if (connection->is_last) {
		shutdown(connection->fd, SHUT_WR);
		connection_close(connection);
		return;
	}
	connection->state = CONNECTION_READING;
	connection->used = 0;
	connection->deadline_ns =
		now_ns() + (connection->is_known ? IDLE_LIMIT_NS : REQUEST_LIMIT_NS);
	connection_watch(self, connection, EPOLLIN | EPOLLRDHUP);
}

/* Head and body in one call, as much as the socket accepts. */
static ssize_t connection_push(struct connection *connection)
{
	size_t head_sent = MIN(connection->sent, connection->head_size);
	size_t body_sent = connection->sent - head_sent;
	struct iovec parts[] = {
		{ connection->head + head_sent, connection->head_size - head_sent },
		{ (char *)(uintptr_t)connection->body.at + body_sent,
		  connection->body_size - body_sent },
	};
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts) };

	return sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void connection_send(struct http_server *self, struct connection *connection)
{
	ssize_t sent = connection_push(connection);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		connection_close(connection);
		return;
	}
	if (sent > 0) {
		connection->sent += (size_t)sent;
		connection->deadline_ns = now_ns() + SEND_LIMIT_NS;
	}
	if (connection->sent == connection->head_size + connection->body_size)
		connection_continue(self, connection);
	else
		connection_watch(self, connection, EPOLLOUT);
}

void http_server_answer(struct http_server *self, uint64_t tag, struct http_answer *answer,
			struct http_body body)
{
	struct connection *connection = connection_find(self, tag);

	if (!connection) {
		if (body.is_mapped)
			munmap((void *)(uintptr_t)body.at, answer->size);
		return;
	}
	connection->is_last |= answer->is_last;
	answer->is_last = connection->is_last;
	connection->head_size = http_answer_head(answer, connection->head);
	connection->body = body;
	connection->body_size = answer->size;
	connection->sent = 0;
	connection->state = CONNECTION_SENDING;
	connection->deadline_ns = now_ns() + SEND_LIMIT_NS;
	connection_send(self, connection);
}

/* The words are limpet's own, or letters of a URL: nothing in them needs an escape. */
void http_server_refuse(struct http_server *self, uint64_t tag, int status, const char *what)
{
	struct connection *connection = connection_find(self, tag);
	struct http_answer answer = { .status = status, .type = "application/json" };
	int size;

	if (!connection)
		return;
	free(connection->buffer);
	connection->buffer = malloc(BUFFER_SIZE);
	if (!connection->buffer) {
		connection_close(connection);
		return;
	}
	size = snprintf(connection->buffer, BUFFER_SIZE,
			"{\"error\":{\"what\":\"%s\",\"why\":\"\",\"fix\":\"\",\"exit\":1}}\n",
			what);
	answer.size = (size_t)size;
	http_server_answer(self, tag, &answer, (struct http_body){ .at = connection->buffer });
}

/* An unparsable request ends the connection: the beginning of the next one is not known. */
static void request_refuse(struct http_server *self, struct connection *connection, int status,
			   bool is_last)
{
	connection->state = CONNECTION_WAITING;
	connection->is_last |= is_last;
	http_server_refuse(self, tag_of(self, connection), status, http_status_text(status));
}

static void request_handle(struct http_server *self, struct connection *connection,
			   const struct http_request *request)
{
	int status = http_guard(request, self->options.token);

	connection->is_last = request->is_last;
	if (status) {
		request_refuse(self, connection, status, /* is_last */ true);
		return;
	}
	connection->is_known |= http_is_api(request);
	connection->state = CONNECTION_WAITING;
	connection->deadline_ns = now_ns() + WAIT_LIMIT_NS;
	connection_watch(self, connection, EPOLLRDHUP);
	self->options.handler.request(self->options.handler.context, tag_of(self, connection),
				      request, connection->buffer + request->head_size);
}

/* One request and not a byte more: no known client pipelines requests. */
static void connection_handle(struct http_server *self, struct connection *connection)
{
	struct http_request request;
	int status = http_request_parse(connection->buffer, connection->used, &request);

	if (status == HTTP_INCOMPLETE)
		return;
	if (!status && connection->used > request.head_size + request.body_size)
		status = 400;
	if (status)
		request_refuse(self, connection, status, /* is_last */ true);
	else if (connection->used == request.head_size + request.body_size)
		request_handle(self, connection, &request);
}

static void connection_read(struct http_server *self, struct connection *connection)
{
	ssize_t size;

	if (!connection->buffer)
		connection->buffer = malloc(BUFFER_SIZE);
	if (!connection->buffer) {
		connection_close(connection);
		return;
	}
	size = recv(connection->fd, connection->buffer + connection->used,
		    BUFFER_SIZE - connection->used, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0) {
		connection_close(connection);
		return;
	}
	if (!connection->used)
		connection->deadline_ns = now_ns() + REQUEST_LIMIT_NS;
	connection->used += (size_t)size;
	connection_handle(self, connection);
}

/* One that had the slot before may have been evicted since the event. */
static void connection_event(struct http_server *self, uint64_t tag, uint32_t events)
{
	struct connection *connection = &self->connections[tag & SLOT_MASK];

	if (connection->state == CONNECTION_FREE || tag != tag_of(self, connection))
		return;
	if (connection->state == CONNECTION_READING && events & EPOLLIN)
		connection_read(self, connection);
	else if (connection->state == CONNECTION_SENDING && events & EPOLLOUT)
		connection_send(self, connection);
	else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		connection_close(connection);
}

static void deadlines_check(struct http_server *self)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		if (self->connections[i].state != CONNECTION_FREE &&
		    now > self->connections[i].deadline_ns)
			connection_close(&self->connections[i]);
}

static void event_handle(struct http_server *self, const struct epoll_event *event)
{
	uint64_t what = event->data.u64;

	if ((what & SLOT_MASK) < HTTP_CONNECTIONS_MAX)
		connection_event(self, what, event->events);
	else if (what < EVENT_HANDLER)
		listener_accept(self, self->options.listeners[what - EVENT_LISTENER]);
	else if (!self->options.handler.readable(self->options.handler.context))
		self->is_over = true;
}

void http_server_run(struct http_server *self)
{
	struct epoll_event events[EVENTS_AT_ONCE];

	while (!self->is_over) {
		int count = epoll_wait(self->epoll, events, EVENTS_AT_ONCE, TICK_MS);

		for (int i = 0; i < count; i++)
			event_handle(self, &events[i]);
		deadlines_check(self);
	}
}

static int watch_all(struct http_server *self)
{
	int r = event_watch(self, EPOLL_CTL_ADD, self->options.handler.fd, EPOLLIN, EVENT_HANDLER);

	for (size_t i = 0; !r && i < HTTP_LISTENERS_MAX; i++)
		if (self->options.listeners[i] >= 0)
			r = event_watch(self, EPOLL_CTL_ADD, self->options.listeners[i], EPOLLIN,
					EVENT_LISTENER + i);
	return r;
}

int http_server_new(struct http_server **ret, const struct http_server_options *options)
{
	struct http_server *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	self->options = *options;
	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		self->connections[i].fd = -1;
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	r = self->epoll < 0 ? -errno : watch_all(self);
	if (r)
		http_server_free(self);
	else
		*ret = self;
	return r;
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		if (server->connections[i].state != CONNECTION_FREE)
			connection_close(&server->connections[i]);
	if (server->epoll >= 0)
		close(server->epoll);
	free(server);
}

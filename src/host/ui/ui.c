/*
 * The privileged half: starts the other, and carries out its commands on one thread.
 */
#include "host/ui/ui.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/core/threads/quiet_thread.h"
#include "host/ui/answers/answer_cache.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/front.h"
#include "host/ui/http/listen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS      500
#define COMMAND_ROOM (1 << 20)
/* The user that the HTTP process becomes where root itself started limpet. */
#define NOBODY 65534u

struct ui_server {
	struct ui ui;
	struct ui_options options;
	struct front_options front;
	uint16_t port;
	bool is_bound; /* the socket file is limpet's */
	pid_t child;
	int broker; /* limpet's end */
	pthread_t worker;
	struct ui_command command;
	struct answer_cache cache;
	_Atomic uint64_t
		lapses_ns; /* when traces stop; UINT64_MAX: never, or not while it answers */
};

static int token_make(char ret[HTTP_TOKEN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[HTTP_TOKEN_SIZE / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++) {
		ret[i * 2] = digits[random[i] >> 4];
		ret[i * 2 + 1] = digits[random[i] & 15];
	}
	return 0;
}

static int listeners_open(struct ui_server *self, struct err *err)
{
	int *listeners = self->front.listeners, r;

	for (size_t i = 0; i < HTTP_LISTENERS_MAX; i++)
		listeners[i] = -1;
	if (!self->options.socket)
		return listen_on_loopback(self->options.port, listeners, &self->port, err);
	r = listen_on_socket(self->options.socket, self->options.user, self->options.group,
			     &listeners[0], err);
	self->is_bound = !r;
	return r;
}

/* Before any thread exists, and before there is any data that the child must not see. */
static int child_start(struct ui_server *self, struct err *err)
{
	int ends[2], room = COMMAND_ROOM;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, -errno, "socketpair: %s", strerror(errno));
	(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	self->broker = self->ui.broker = ends[0];
	self->front.broker = ends[1];
	self->front.user = self->options.user ? self->options.user : NOBODY;
	self->front.group = self->options.user ? self->options.group : NOBODY;
	self->child = fork();
	if (self->child == 0)
		front_run(&self->front);
	close(ends[1]);
	for (size_t i = 0; i < HTTP_LISTENERS_MAX; i++)
		if (self->front.listeners[i] >= 0)
			close(self->front.listeners[i]);
	return self->child < 0 ? err_set(err, -errno, "fork: %s", strerror(errno)) : 0;
}

static void command_answer(struct ui_server *self, const struct ui_command *command)
{
	CLEANUP(reply_close) struct reply reply = { 0 };
	uint64_t began_ns = now_ns();
	struct err err = { 0 };

	if (routes[command->verb].traits & ROUTE_CHANGES)
		answer_cache_clear(&self->cache);
	if (answer_cache_send(&self->cache, command, self->broker))
		return;
	if (reply_open(&reply, command->tag, &err))
		return;
	if (answer_make(&self->ui, command, &reply, &err))
		reply_fail(&reply, &err);
	if (reply.is_later)
		return;
	(void)!reply_send(&reply, self->broker);
	answer_cache_keep(&self->cache, command, &reply, began_ns);
	for (unsigned i = 0; i < self->ui.sessions.count; i++)
		ui_session_settle(self->ui.sessions.items[i]);
}

/* Of several pages the one with the rarest requests counts. */
static uint64_t lease_extend(const struct ui_server *self, uint64_t until_ns)
{
	uint64_t lease_ns = self->options.lease_ns;

	if (!lease_ns)
		return UINT64_MAX;
	if (self->command.is_hidden)
		lease_ns = MAX(lease_ns, UI_LEASE_HIDDEN_NS);
	return MAX(until_ns, now_ns() + lease_ns);
}

/* An invalid command means that the child was taken over: ends the connection. */
static void *commands_run(void *argument)
{
	struct ui_server *self = argument;
	struct ui_command bytes;
	uint64_t until_ns = 0;
	ssize_t size;

	for (unsigned i = 0; i < self->ui.sessions.count; i++)
		ui_session_prepare(self->ui.sessions.items[i]);
	while ((size = recv(self->broker, &bytes, sizeof(bytes), 0)) > 0) {
		if (ui_command_check(&bytes, (size_t)size, &self->command))
			break;
		self->lapses_ns = UINT64_MAX;
		command_answer(self, &self->command);
		self->lapses_ns = until_ns = lease_extend(self, until_ns);
	}
	shutdown(self->broker, SHUT_RDWR);
	return NULL;
}

static int session_add(struct ui_server *self, struct ui_session *session, struct err *err)
{
	int r = sessions_add(&self->ui.sessions, session, err);

	self->ui.opened = self->ui.sessions.last_id;
	return r;
}

/* Opens the sessions given on the command line. */
static int sessions_open(struct ui_server *self, struct err *err)
{
	const struct ui_wish wish = { .pid = self->options.pid, .hz = SAMPLING_HZ, .off_cpu = 1 };
	struct ui_session *session;
	int r = 0;

	if (self->options.pid) {
		r = ui_session_attach(&session, &wish, self->options.version, err);
		if (!r)
			r = session_add(self, session, err);
	}
	if (!r && self->options.record) {
		r = ui_session_record(&session, self->options.record, err);
		if (!r)
			r = session_add(self, session, err);
		if (!r)
			self->ui.recorded = session->id;
	}
	for (size_t i = 0; !r && i < ARRAY_SIZE(self->options.files); i++) {
		if (!self->options.files[i])
			continue;
		r = ui_session_load(&session, self->options.files[i], err);
		if (!r)
			r = session_add(self, session, err);
	}
	return r;
}

static void ssh_describe(struct ui_server *self)
{
	char host[64] = "HOST";

	(void)gethostname(host, sizeof(host) - 1);
	if (self->options.socket)
		snprintf(self->ui.ssh, sizeof(self->ui.ssh), "ssh -L 8080:%s %s",
			 self->options.socket, host);
	else
		snprintf(self->ui.ssh, sizeof(self->ui.ssh), "ssh -L %u:127.0.0.1:%u %s",
			 self->port, self->port, host);
}

int ui_start(struct ui_server **ret, const struct ui_options *options, struct err *err)
{
	struct ui_server *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory");
	self->options = *options;
	self->ui.options = &self->options;
	self->lapses_ns = lease_extend(self, 0);
	sessions_init(&self->ui.sessions);
	if (token_make(self->front.token))
		return err_set(err, -EIO, "no random numbers");
	r = listeners_open(self, err);
	if (!r)
		r = child_start(self, err);
	if (!r)
		r = sessions_open(self, err);
	if (!r)
		ssh_describe(self);
	if (!r && (r = quiet_thread(&self->worker, commands_run, self)))
		err_set(err, r, "start a thread: %s", strerror(-r));
	*ret = self;
	return r;
}

void ui_address(const struct ui_server *self, struct ui_address *ret)
{
	*ret = (struct ui_address){ .port = self->port,
				    .socket = self->options.socket,
				    .ssh = self->ui.ssh };
	snprintf(ret->url, sizeof(ret->url), "http://%s:%u/#token=%.*s",
		 ret->socket ? "localhost" : "127.0.0.1", ret->socket ? 8080u : ret->port,
		 (int)HTTP_TOKEN_SIZE, self->front.token);
}

int ui_serve(struct ui_server *self, int until, int detaches, struct err *err)
{
	struct pollfd fds[] = { { .fd = until, .events = POLLIN },
				{ .fd = self->broker, .events = POLLRDHUP },
				{ .fd = detaches, .events = POLLIN } };
	pid_t target;

	for (;;) {
		int count = poll(fds, ARRAY_SIZE(fds), TICK_MS);

		if (count < 0 && errno != EINTR)
			return err_set(err, -errno, "poll: %s", strerror(errno));
		/* Consumed: what ends now need not hurry. */
		if (count > 0 && fds[0].revents && interrupt_consume(until))
			return 0;
		if (count > 0 && fds[1].revents)
			return err_set(err, -EPIPE, "the HTTP process has ended");
		if (count > 0 && fds[2].revents &&
		    read(detaches, &target, sizeof(target)) == sizeof(target))
			sessions_detach(&self->ui.sessions, target);
		/* A closed page leaves nothing in a target.  The recording of `limpet record`
		 * belongs to its command. */
		if (now_ns() > self->lapses_ns)
			sessions_lapse(&self->ui.sessions, self->ui.recorded,
				       self->options.lease_ns);
		sessions_tick(&self->ui.sessions);
	}
}

void ui_stop(struct ui_server *self)
{
	if (!self)
		return;
	sessions_detach_all(&self->ui.sessions);
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		(void)!waitpid(self->child, NULL, 0);
	}
	if (self->is_bound)
		listen_remove_socket(self->options.socket, self->options.user, self->options.group);
}

/* It is still there: such a session cannot be closed. */
void ui_recorded(struct ui_server *self, struct ui_recorded *ret)
{
	struct ui_session *session =
		sessions_find(&self->ui.sessions, self->ui.recorded, &(struct err){ 0 });
	struct source_facts facts;

	*ret = (struct ui_recorded){ .path = "" };
	if (!session)
		return;
	source_query(session->source, &facts);
	*ret = (struct ui_recorded){ .path = facts.path,
				     .samples = facts.samples,
				     .calls = facts.calls,
				     .err = session->facts.error };
}

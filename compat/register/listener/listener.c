/*
 * Listens on an abstract socket for hosts.  Runs inside the target on the helper thread; the
 * program may close any descriptor at any time, so each is checked before its use.
 */
#include "compat/register/listener/listener.h"

#include "compat/register/listener/connection.h"
#include "compat/register/listener/guard.h"
#include "compat/register/process/loader.h"
#include "shared/wire/listener.h"
#include "target/runtime/descriptor.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG      4
#define REOPEN_AFTER 1         /* seconds, if the program closes the socket again and again */
#define RETRY_NS     100000000 /* without a free descriptor for a peer */

/* Written by the helper thread, read in children of fork. */
static struct descriptor listening = { -1, 0, 0 }, peer = { -1, 0, 0 };

/* One of a few names: the first may belong to a process of the same number, elsewhere or dead. */
static bool bind_name(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	for (unsigned i = 0; i < LISTENER_NAMES; i++) {
		int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
				      LISTENER_NAME, (int)getpid(), i);
		socklen_t size =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

		if (!bind(fd, (struct sockaddr *)&address, size))
			return true;
	}
	return false;
}

/* A process with more rights than its user opens no listener: that user must not get them.  Noted
 * as limpet's before it listens: a fork may happen at any time. */
void listener_prepare(void)
{
	struct fork_work work;

	if (getauxval(AT_SECURE))
		return;
	work = forks_begin();
	listening =
		descriptor_own(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	forks_release(work);
	if (listening.fd >= 0 && (!bind_name(listening.fd) || listen(listening.fd, BACKLOG)))
		descriptor_close(&listening);
}

/* Slowly: a program may close all descriptors once, but one that repeats it must not cost much. */
static void open_listener_again(void)
{
	static time_t last;
	struct timespec now = { 0 }, pause = { REOPEN_AFTER, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (last && now.tv_sec - last <= REOPEN_AFTER)
		nanosleep(&pause, NULL);
	last = now.tv_sec;
	listener_prepare();
}

static bool listener_serve(struct identity_watch *identity)
{
	bool exceeds = identity_exceeds(identity);
	bool must_end = connection_serve(
		peer.fd, exceeds ? LISTENER_OTHER_RIGHTS : LISTENER_OFFERED, identity);

	/* A child of fork may hold a copy: only this ends the connection for certain. */
	if (descriptor_is_ours(&peer))
		shutdown(peer.fd, SHUT_RDWR);
	descriptor_close(&peer);
	return !exceeds && !must_end;
}

/* Polls also without a listener, as a place for hosts that stop the thread by ptrace: the call then
 * is restarted or ends with EINTR. */
bool listener_serve_next(struct identity_watch *identity)
{
	struct pollfd wait = { .events = POLLIN };
	struct timespec limit = { 0, IDENTITY_GLANCE_MS * 1000000L };
	struct fork_work work;

	if (!descriptor_is_ours(&listening))
		open_listener_again();
	wait.fd = listening.fd;
	if (ppoll(&wait, 1, &limit, NULL) <= 0 || guard_is_alarmed() ||
	    !descriptor_is_ours(&listening))
		return !guard_says_end(identity);
	/* Never blocks, though the peer may have gone: forks wait meanwhile. */
	work = forks_begin();
	peer = descriptor_own(accept4(listening.fd, NULL, NULL, SOCK_CLOEXEC));
	forks_release(work);
	if (peer.fd >= 0)
		return listener_serve(identity);
	nanosleep(&(struct timespec){ 0, RETRY_NS }, NULL);
	return true;
}

/* If the program has closed the descriptor, the waiting thread returns after its time limit. */
void listener_wake(void)
{
	if (descriptor_is_ours(&listening))
		shutdown(listening.fd, SHUT_RD);
}

void listener_forget(void)
{
	descriptor_close(&listening);
	descriptor_close(&peer);
	connection_forget();
}

/*
 * Listens on an abstract socket and lets in who may come: the user that this process runs as, or
 * root.  Runs inside the target on the helper thread; the program may close any descriptor at any
 * time, so each is looked at before it is used.
 */
#include "compat/register/door.h"

#include "compat/register/visit.h"
#include "shared/wire/door.h"
#include "target/runtime/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG      4
#define REOPEN_AFTER 1         /* seconds, where the program closes our socket again and again */
#define RETRY_NS     100000000 /* where it has no descriptor left for a visitor */
#define ALL_USERS    "         0          0 4294967295"

/* Written by the helper thread, read in children of fork. */
static struct descriptor listening = { -1, 0, 0 }, visitor = { -1, 0, 0 };

static bool is_ours(const struct descriptor *self)
{
	struct stat file;

	return self->fd >= 0 && !fstat(self->fd, &file) && file.st_dev == self->device &&
	       file.st_ino == self->inode;
}

/* One of a few names: the first may belong to a process of the same number, elsewhere or dead. */
static bool bind_name(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	for (unsigned i = 0; i < DOOR_NAMES; i++) {
		int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, DOOR_NAME,
				      (int)getpid(), i);
		socklen_t size =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

		if (!bind(fd, (struct sockaddr *)&address, size))
			return true;
	}
	return false;
}

/* A process with more rights than its user opens no door: that user must not get them.  Known as
 * ours before it listens: a fork may come at any time. */
void door_prepare(void)
{
	int fd = getauxval(AT_SECURE) ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	listening = descriptor_own(fd);
	if (fd >= 0 && (!bind_name(listening.fd) || listen(listening.fd, BACKLOG)))
		descriptor_close(&listening);
}

/* Never in a hurry: a program that closes everything once is common, one that goes on is not. */
static void open_door_again(void)
{
	static time_t last;
	struct timespec now = { 0 }, pause = { REOPEN_AFTER, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (last && now.tv_sec - last <= REOPEN_AFTER)
		nanosleep(&pause, NULL);
	last = now.tv_sec;
	door_prepare();
}

/* In a user namespace, users from outside all look like one: the overflow user. */
static bool may_be_anybody(uid_t uid)
{
	char text[64] = "";
	int fd = uid == 65534 ? open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t size;

	if (uid != 65534)
		return false;
	size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	return size <= 0 || strncmp(text, ALL_USERS, sizeof(ALL_USERS) - 1);
}

static bool may_come_in(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return false;
	return who.uid == 0 || (who.uid == geteuid() && !may_be_anybody(who.uid));
}

/* Also without a door, for those who come by ptrace; after each of them the call is repeated or
 * ends with EINTR. */
static bool is_somebody_there(unsigned timeout_ms)
{
	struct pollfd wait = { listening.fd, POLLIN, 0 };
	struct timespec limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000000l };

	return ppoll(&wait, 1, &limit, NULL) > 0;
}

bool door_serve_next(unsigned timeout_ms)
{
	bool may_go_on = true;

	if (!is_ours(&listening))
		open_door_again();
	if (!is_somebody_there(timeout_ms) || !is_ours(&listening))
		return true;
	visitor = descriptor_own(accept4(listening.fd, NULL, NULL, SOCK_CLOEXEC));
	if (visitor.fd < 0) {
		nanosleep(&(struct timespec){ 0, RETRY_NS }, NULL);
		return true;
	}
	if (may_come_in(visitor.fd))
		may_go_on = !visit_serve(visitor.fd);
	/* A child of fork may hold a copy: only this ends the connection for certain. */
	if (is_ours(&visitor))
		shutdown(visitor.fd, SHUT_RDWR);
	descriptor_close(&visitor);
	return may_go_on;
}

void door_forget(void)
{
	descriptor_close(&listening);
	descriptor_close(&visitor);
}

/*
 * Opens the sockets of the server.
 */
#include "host/ui/http/listen.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG      64
#define PORT_RETRIES 16u

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un file;
};

static int socket_listen(const union address *address, socklen_t size, int *ret)
{
	CLEANUP(close)
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0)
		return -errno;
	if (address->any.sa_family != AF_UNIX)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (address->any.sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(fd, &address->any, size) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

static int listen_four(uint16_t port, int *ret, uint16_t *ret_port)
{
	union address address = { .four = { .sin_family = AF_INET,
					    .sin_port = htons(port),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address.four);
	int r = socket_listen(&address, sizeof(address.four), ret);

	if (!r && getsockname(*ret, &address.any, &size) < 0)
		r = -errno;
	*ret_port = ntohs(address.four.sin_port);
	return r;
}

static int listen_six(uint16_t port, int *ret)
{
	const union address address = { .six = { .sin6_family = AF_INET6,
						 .sin6_port = htons(port),
						 .sin6_addr = IN6ADDR_LOOPBACK_INIT } };

	return socket_listen(&address, sizeof(address.six), ret);
}

/* A port that is free for the one may not be for the other: another one is tried. */
int listen_on_loopback(uint16_t port, int ret[2], uint16_t *ret_port, struct err *err)
{
	int r = 0, six = 0;

	ret[1] = -1;
	for (unsigned i = 0; i < PORT_RETRIES; i++) {
		r = listen_four(port, &ret[0], ret_port);
		six = r ? 0 : listen_six(*ret_port, &ret[1]);
		if (port || r || six != -EADDRINUSE)
			break;
		close(ret[0]);
	}
	if (!r && six == -EADDRINUSE) {
		close(ret[0]);
		r = six;
	}
	if (!r)
		return 0;
	err_set(err, r, "listen on 127.0.0.1, port %u: %s", port, strerror(-r));
	return port ? err_fix(err, "another --port, or none: then any free one is taken") : r;
}

/* True when no process listens there any more. */
static bool socket_is_dead(const union address *address, socklen_t size)
{
	CLEANUP(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, &address->any, size) < 0 && errno == ECONNREFUSED;
}

static bool file_is_socket(const char *path)
{
	struct stat facts;

	return lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode) &&
	       facts.st_uid == (uid_t)setfsuid((uid_t)-1);
}

/* Replaces a socket file without a listener. */
static int socket_file_listen(const union address *address, int *ret)
{
	const char *path = address->file.sun_path;
	mode_t mask = umask(0177);
	int r;

	if (file_is_socket(path) && socket_is_dead(address, sizeof(address->file)))
		(void)unlink(path);
	r = socket_listen(address, sizeof(address->file), ret);
	umask(mask);
	return r;
}

/* As that user: the file is theirs then, and nothing is done in folders where they may not. */
int listen_on_socket(const char *path, uid_t user, gid_t group, int *ret, struct err *err)
{
	union address address = { .file = { .sun_family = AF_UNIX } };
	int r;

	if (strlen(path) >= sizeof(address.file.sun_path)) {
		err_set(err, -ENAMETOOLONG, "the name of the socket '%s' is too long", path);
		return err_exit(err, EXIT_USAGE);
	}
	snprintf(address.file.sun_path, sizeof(address.file.sun_path), "%s", path);
	setfsgid(group);
	setfsuid(user);
	r = socket_file_listen(&address, ret);
	setfsuid(geteuid());
	setfsgid(getegid());
	return r ? err_set(err, r, "listen on '%s': %s", path, strerror(-r)) : 0;
}

void listen_remove_socket(const char *path, uid_t user, gid_t group)
{
	setfsgid(group);
	setfsuid(user);
	if (file_is_socket(path))
		(void)unlink(path);
	setfsuid(geteuid());
	setfsgid(getegid());
}

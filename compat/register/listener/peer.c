/*
 * Identifies the peer of a connection from /proc.  Runs inside the target on the helper thread; a
 * peer that has ended meanwhile is refused, as its number may have been reused.
 */
#include "compat/register/listener/peer.h"

#include "compat/register/process/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum sameness { DIFFERENT, SAME, UNREADABLE };

static enum sameness compare_namespace(pid_t pid, const char *name)
{
	char theirs[48], ours[32];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/ns/%s", (int)pid, name);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", name);
	if (stat(theirs, &a) || stat(ours, &b))
		return UNREADABLE;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino ? SAME : DIFFERENT;
}

/* How many numbers the process has, one for each pid namespace from this one inwards; 0:
 * unknown. */
static unsigned count_numbers(const char *status_path)
{
	char text[4096] = "", *line;
	int fd = open(status_path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	unsigned count = 0;

	if (fd >= 0)
		close(fd);
	line = size > 0 ? strstr(text, "\nNSpid:") : NULL;
	for (line = line ? line + 1 : NULL; line && *line && *line != '\n'; line++)
		count += *line == '\t';
	return count;
}

/* An ordinary process may not read the namespaces of a root process.  The numbers of a process are
 * readable for every user, and root in another user namespace gets no rights from the kernel. */
static bool shares_numbers(pid_t pid)
{
	unsigned ours = count_numbers("/proc/self/status");
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return ours && ours == count_numbers(path);
}

static enum listener_refusal judge_namespaces(const struct ucred *peer)
{
	static const char *const names[] = { "user", "pid", "mnt" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		enum sameness sameness = compare_namespace(peer->pid, names[i]);

		if (sameness == DIFFERENT)
			return LISTENER_OTHER_NAMESPACE;
		if (sameness == UNREADABLE && (peer->uid || !shares_numbers(peer->pid)))
			return LISTENER_UNKNOWN_PEER;
	}
	return LISTENER_OFFERED;
}

/* True when the facts read under its number were its own.  Before Linux 6.5 (SO_PEERPIDFD) the
 * kernel cannot confirm that. */
static bool still_lives(int socket)
{
	struct pollfd wait = { -1, POLLIN, 0 };
	socklen_t size = sizeof(wait.fd);
	struct fork_work work = forks_begin();
	bool lives;

	lives = getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &wait.fd, &size)
			? errno == ENOPROTOOPT
			: poll(&wait, 1, 0) == 0;
	if (wait.fd >= 0)
		close(wait.fd);
	forks_release(work);
	return lives;
}

enum listener_refusal peer_judge(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	enum listener_refusal refusal;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return LISTENER_UNKNOWN_PEER;
	if (peer.uid && peer.uid != geteuid())
		return LISTENER_OTHER_USER;
	/* It has no number in this pid namespace. */
	if (peer.pid <= 0)
		return LISTENER_OTHER_NAMESPACE;
	refusal = judge_namespaces(&peer);
	return refusal == LISTENER_OFFERED && !still_lives(socket) ? LISTENER_UNKNOWN_PEER
								   : refusal;
}

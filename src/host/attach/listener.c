/*
 * Attaches through a process's listener: connects to the abstract socket of its register library,
 * checks by the kernel's credentials that this process listens, and takes the offered socket out of
 * the process.  What the peer sends is foreign and checked.
 */
#include "host/attach/listener.h"

#include "host/attach/facts/facts.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/inspect/attachable.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define WELCOME_LIMIT_NS 5000000000ull
#define CONNECTS         2 /* a program may close the socket, which the helper then opens again */
#define CONNECT_AGAIN_NS 30000000

/* The process that began to listen may have ended, the socket been inherited, and its number reused
 * by the target.  Before Linux 6.5 (SO_PEERPIDFD) the kernel cannot confirm that. */
static bool listener_lives(int fd)
{
	struct pollfd wait = { -1, POLLIN, 0 };
	socklen_t size = sizeof(wait.fd);
	bool lives;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &wait.fd, &size))
		return errno == ENOPROTOOPT;
	lives = poll(&wait, 1, 0) == 0;
	close(wait.fd);
	return lives;
}

/* Is the listening process, by the kernel's record, the target? */
static bool is_of(int fd, const struct process_status *status, pid_t pid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid == pid &&
	       (peer.uid == status->euid || peer.uid == status->uid || peer.uid == 0) &&
	       listener_lives(fd);
}

/* A descriptor, or -ENOENT: no listener, or another process under this name. */
static int connect_to(const struct process_status *status, pid_t pid, unsigned number)
{
	CLEANUP(close)
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, LISTENER_NAME,
			      status->inner_pid, number);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

	if (fd < 0)
		return -ENOENT;
	if (connect(fd, (struct sockaddr *)&address, size))
		return errno == EAGAIN ? -EBUSY : -ENOENT;
	if (!is_of(fd, status, pid))
		return -ENOENT;
	return TAKE_FD(fd);
}

static int find_listener(const struct process_status *status, pid_t pid)
{
	int fd = -ENOENT;

	for (unsigned i = 0; fd == -ENOENT && i < LISTENER_NAMES; i++)
		fd = connect_to(status, pid, i);
	return fd;
}

/* Waits for one message of exactly this size; the target may end meanwhile. */
static bool listener_receive(int fd, const struct target *target, void *ret, size_t size)
{
	struct link link = { .socket = fd, .lock = -1 };
	ssize_t got = link_receive(&link, target, ret, size, WELCOME_LIMIT_NS);

	/* The kernel reports a reset (data left unread) before the data that is still there. */
	if (got == -ECONNRESET)
		got = link_receive(&link, target, ret, size, WELCOME_LIMIT_NS);
	return got == (ssize_t)size;
}

static bool listener_send(int fd, const struct target *target, const struct listener_hello *hello)
{
	struct link link = { .socket = fd, .lock = -1 };
	struct err ignored;

	return !link_send(&link, target, hello, sizeof(*hello), /* fd */ -1, &ignored);
}

/* The target's answer on the abstract socket: an offer, or a refusal, which is for the report. */
static bool get_offer(struct attachment *self, int fd, const struct listener_hello *hello,
		      struct listener_offer *ret)
{
	(void)listener_send(fd, &self->target, hello);
	if (!listener_receive(fd, &self->target, ret, sizeof(*ret)) ||
	    ret->magic != LISTENER_MAGIC || ret->version != LISTENER_VERSION ||
	    ret->refusal >= LISTENER_REFUSALS)
		return false;
	self->report.refusal = ret->refusal;
	return ret->refusal == LISTENER_OFFERED;
}

/* Takes the offered socket, the end of a new pair.  The kernel allows it to processes that may
 * trace the target.  limpet must not send to another socket of the target, whatever number the peer
 * named: limpet's own hello lies ready in the right one. */
static int fetch_offer(const struct target *target, const struct listener_offer *offer,
		       const struct listener_hello *hello)
{
	CLEANUP(close)
	int fd = socket_take(target, target->pidfd, offer->fd, offer->inode);
	struct listener_hello heard;

	if (fd < 0 ||
	    recv(fd, &heard, sizeof(heard), MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC) != sizeof(heard) ||
	    memcmp(&heard, hello, sizeof(heard)) ||
	    recv(fd, &heard, sizeof(heard), MSG_DONTWAIT) != sizeof(heard))
		return -ENOENT;
	return TAKE_FD(fd);
}

/* Do paths mean the same in the target as here? */
static bool shares_root(const struct listener_welcome *welcome)
{
	struct stat root, mounts;

	return welcome->mounts_inode && !stat("/", &root) && !stat("/proc/self/ns/mnt", &mounts) &&
	       welcome->root_device == root.st_dev && welcome->root_inode == root.st_ino &&
	       welcome->mounts_inode == mounts.st_ino;
}

static void fill_report(struct attachment *self, const struct listener_welcome *welcome)
{
	self->context = welcome->context;
	self->report.way = BOOT_WAY_LISTENER;
	self->report.control_tid = welcome->tid;
	self->report.was_resident = welcome->was_loaded;
	self->report.shares_root = shares_root(welcome);
	self->report.denies_variables = self->target.process.status.seccomp;
	self->report.denies_stacks = self->target.process.status.seccomp;
	self->report.denies_notice = self->target.process.status.seccomp;
}

/* Exchanges hello and welcome on the offered socket.  -ENOENT if that fails. */
static int listener_greet(struct attachment *self, const struct listener_hello *hello)
{
	struct listener_welcome welcome = { 0 };

	if (!listener_send(self->link.socket, &self->target, hello) ||
	    !listener_receive(self->link.socket, &self->target, &welcome, sizeof(welcome)) ||
	    welcome.magic != LISTENER_MAGIC || welcome.version != LISTENER_VERSION ||
	    welcome.agent_version != AGENT_VERSION || welcome.code)
		return -ENOENT;
	fill_report(self, &welcome);
	return 0;
}

static int connect_once(struct attachment *self)
{
	struct listener_hello hello = { .magic = LISTENER_MAGIC, .version = LISTENER_VERSION };
	struct listener_offer offer;
	CLEANUP(close)
	int fd = find_listener(&self->target.process.status, self->target.process.pid);
	int r;

	if (fd < 0 || getrandom(hello.nonce, sizeof(hello.nonce), 0) != sizeof(hello.nonce) ||
	    !get_offer(self, fd, &hello, &offer))
		return -ENOENT;
	self->link.socket = fetch_offer(&self->target, &offer, &hello);
	r = self->link.socket < 0 ? -ENOENT : listener_greet(self, &hello);
	if (r)
		link_close(&self->link);
	return r;
}

bool listener_exists(pid_t pid)
{
	struct process_status status;
	int fd = status_read(pid, pid, &status, NULL) ? -ENOENT : find_listener(&status, pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EBUSY;
}

/* A listener needs nothing of the target's libc, and the same right as ptrace. */
int listener_judge(const struct process *process, struct err *err)
{
	int r = process_judge(process, err);

	if (r && err->exit == EXIT_NOT_ATTACHABLE && process->access == 0 &&
	    !process->stat.is_kernel_thread && !process->status.seccomp &&
	    listener_exists(process->pid)) {
		memset(err, 0, sizeof(*err));
		return 0;
	}
	return r;
}

int listener_connect(struct attachment *self, const struct attach_options *options)
{
	int r = -ENOENT;

	/* A filter might kill the target for the calls of loading a tool.  Only the attach by
	 * ptrace reads filters before, so a filtered target is left to it. */
	if (self->target.process.status.seccomp && !options->force &&
	    !seccomp_trial_passes(&self->target))
		return r;
	for (unsigned i = 0; r && !self->report.refusal && i < CONNECTS; i++) {
		if (i)
			sleep_ns(CONNECT_AGAIN_NS);
		r = connect_once(self);
	}
	return r;
}

const char *listener_refusal_text(enum listener_refusal refusal)
{
	static const char *const refusals[LISTENER_REFUSALS] = {
		[LISTENER_OFFERED] = "",
		[LISTENER_OTHER_USER] =
			"limpet runs neither as root nor as the user of the process",
		[LISTENER_OTHER_NAMESPACE] = "limpet runs in another user, pid or mount namespace",
		[LISTENER_UNKNOWN_PEER] = "the process cannot identify limpet in /proc",
		[LISTENER_OTHER_RIGHTS] =
			"the process has given up rights that its listening thread has",
		[LISTENER_NO_RESOURCES] = "the process has no descriptor left",
	};

	return refusals[refusal];
}

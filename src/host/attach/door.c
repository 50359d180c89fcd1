/*
 * Knocks at the door of a process: connects to the abstract socket that its register library
 * listens on, makes sure by the kernel's word that it is this process which listens, and says
 * hello. Host only; what the other side says is foreign and checked.
 */
#include "host/attach/door.h"

#include "host/attach/seccomp_trial.h"
#include "host/core/cleanup.h"
#include "host/process/attachable.h"
#include "shared/wire/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WELCOME_LIMIT_NS 5000000000ull
#define KNOCKS           2 /* a program may have closed the socket, which is then made anew */
#define KNOCK_AGAIN_NS   30000000

/* Who listens, as the kernel noted it. */
static bool is_of(int fd, const struct process_status *status, pid_t pid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.pid == pid &&
	       (who.uid == status->euid || who.uid == status->uid || who.uid == 0);
}

/* A descriptor, or -ENOENT: nobody there, or somebody else under this name. */
static int connect_to(const struct process_status *status, pid_t pid, unsigned number)
{
	CLEANUP(close)
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, DOOR_NAME,
			      status->inner_pid, number);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

	if (fd < 0)
		return -ENOENT;
	if (connect(fd, (struct sockaddr *)&address, size))
		return errno == EAGAIN ? -EBUSY : -ENOENT;
	if (!is_of(fd, status, pid) || fcntl(fd, F_SETFL, 0))
		return -ENOENT;
	return TAKE_FD(fd);
}

static int find_door(const struct process_status *status, pid_t pid)
{
	int fd = -ENOENT;

	for (unsigned i = 0; fd == -ENOENT && i < DOOR_NAMES; i++)
		fd = connect_to(status, pid, i);
	return fd;
}

static int fail_busy(struct err *err)
{
	err_set(err, -EBUSY, "its attach thread is busy");
	err_why(err, "another limpet, or another attacher, is at its register library");
	err_fix(err, "try again when that one has left");
	return err_exit(err, EXIT_BUSY);
}

static bool is_sound(const struct door_welcome *welcome)
{
	return welcome->magic == DOOR_MAGIC && welcome->version == DOOR_VERSION &&
	       welcome->code <= 0 && welcome->agent_version == AGENT_VERSION;
}

/* Do paths mean the same there as here? */
static bool shares_root(const struct door_welcome *welcome)
{
	struct stat root, mounts;

	return welcome->mounts_inode && !stat("/", &root) && !stat("/proc/self/ns/mnt", &mounts) &&
	       welcome->root_device == root.st_dev && welcome->root_inode == root.st_ino &&
	       welcome->mounts_inode == mounts.st_ino;
}

static void fill_report(struct attachment *self, const struct door_welcome *welcome)
{
	self->context = welcome->context;
	self->report.way = BOOT_WAY_DOOR;
	self->report.control_tid = welcome->tid;
	self->report.was_resident = welcome->was_loaded;
	self->report.shares_root = shares_root(welcome);
	self->report.denies_variables = self->target.process.status.seccomp;
}

/* One hello.  -ENOENT where it was of no use: the way with ptrace may still work. */
static int greet(struct attachment *self, struct err *err)
{
	struct door_hello hello = { DOOR_MAGIC, DOOR_VERSION, 0 };
	struct door_welcome welcome = { 0 };
	ssize_t size;

	if (link_send(&self->link, &self->target, &hello, sizeof(hello), -1, err))
		return -ENOENT;
	size = link_receive(&self->link, &self->target, &welcome, sizeof(welcome),
			    WELCOME_LIMIT_NS);
	if (size == -ETIMEDOUT)
		return fail_busy(err);
	if (size != sizeof(welcome) || !is_sound(&welcome) || welcome.code)
		return -ENOENT;
	fill_report(self, &welcome);
	return 0;
}

/* A filter of its own might kill it for what loading a tool needs; where filters are read, that is
 * known before, and that is the other way's business. */
static bool may_be_filtered(const struct target *target, const struct attach_options *options)
{
	return target->process.status.seccomp && !options->force && !seccomp_trial_passes(target);
}

static int knock(struct attachment *self, struct err *err)
{
	int r = find_door(&self->target.process.status, self->target.process.pid);

	if (r == -EBUSY)
		return fail_busy(err);
	if (r < 0)
		return r;
	self->link.socket = r;
	r = greet(self, err);
	if (r)
		link_close(&self->link);
	return r;
}

bool door_exists(pid_t pid)
{
	struct process_status status;
	struct err ignored;
	int fd = status_read(pid, pid, &status, &ignored) ? -ENOENT : find_door(&status, pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EBUSY;
}

static bool is_open_to_us(const struct process *process)
{
	uid_t uid = process->rights.uid;

	return (uid == 0 || uid == process->status.euid) && !process->stat.is_kernel_thread &&
	       !process->status.seccomp && door_exists(process->pid);
}

int door_judge(const struct process *process, struct err *err)
{
	int r = process_judge(process, err);

	if (r && (err->exit == EXIT_NOT_PERMITTED || err->exit == EXIT_NOT_ATTACHABLE) &&
	    is_open_to_us(process)) {
		memset(err, 0, sizeof(*err));
		return 0;
	}
	return r;
}

int door_open(struct attachment *self, const struct attach_options *options, struct err *err)
{
	struct timespec delay = { 0, KNOCK_AGAIN_NS };
	int r = -ENOENT;

	if (may_be_filtered(&self->target, options))
		return r;
	for (unsigned i = 0; r == -ENOENT && i < KNOCKS; i++) {
		if (i)
			nanosleep(&delay, NULL);
		r = knock(self, err);
	}
	return r;
}

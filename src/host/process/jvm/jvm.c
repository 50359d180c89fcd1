/*
 * The attach protocol of HotSpot.
 *
 *   .attach_pidN in /tmp, SIGQUIT   the machine finds the file and makes its socket, .java_pidN
 *   connect                         it checks limpet's credentials: its own user and group, or root
 *   "1" "jcmd" "Compiler.perfmap" "" ""     each with a zero behind it
 *   an error code, a newline, text, end of file
 *
 * Its /tmp may be shared with others, so files there are not trusted: the socket must belong to the
 * machine's user, and no link is followed.  What needs the machine's credentials is done by a
 * child, which does nothing but system calls: other threads of limpet may hold any lock.
 */
#include "host/process/jvm/jvm.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/process/foreign_file.h"
#include "host/process/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define LIMIT_NS   15000000000ull
#define STEP_NS    20000000
#define GRACE_NS   1000000000ull
#define REPLY_ROOM 4096u

static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

/* The child's data, made before its fork. */
struct listener {
	pid_t pid, parent, inner_pid;
	int pidfd, root, temporary, socket; /* negative: none */
	uid_t user;
	gid_t group;
	uint64_t end_ns;
	char socket_name[32], trigger_name[32];
};

/* Why the child failed; 0: it is connected. */
enum failure {
	FAILURE_NONE,
	FAILURE_CREDENTIALS,
	FAILURE_TRIGGER,
	FAILURE_SIGNAL,
	FAILURE_LISTENER,
	FAILURE_SOCKET,
	FAILURE_CHILD,
	FAILURE_STUCK,
};

/* Children of a process with threads: nothing but system calls from here on. */
static void write_number(char *into, unsigned number)
{
	char digits[12];
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*into++ = digits[--count];
	*into = '\0';
}

/* Through the descriptor of the very socket that was checked. */
static bool connect_now(const struct listener *listener)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/proc/self/fd/" };
	int handle =
		openat(listener->temporary, listener->socket_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat file;
	bool is_connected = false;

	if (handle < 0)
		return false;
	if (fstat(handle, &file) == 0 && S_ISSOCK(file.st_mode) &&
	    (file.st_uid == listener->user || !file.st_uid)) {
		write_number(address.sun_path + strlen(address.sun_path), (unsigned)handle);
		is_connected = !connect(listener->socket, (const struct sockaddr *)&address,
					sizeof(address));
	}
	close(handle);
	return is_connected;
}

/* The child of a killed limpet has no parent to wait for it: its connection has a time limit. */
static bool connect_in_time(const struct listener *listener)
{
	const struct timespec step = { 0, STEP_NS };

	while (now_ns() < listener->end_ns && getppid() == listener->parent) {
		if (connect_now(listener))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* An existing file is another tool's, which removes it.  The JVM accepts only its own user's file,
 * and without one prints all its stacks at the signal. */
static bool is_believed(const struct listener *listener)
{
	struct stat file;

	return fstatat(listener->temporary, listener->trigger_name, &file, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       S_ISREG(file.st_mode) && (file.st_uid == listener->user || !file.st_uid);
}

static enum failure wake_listener(const struct listener *listener)
{
	int trigger = openat(listener->temporary, listener->trigger_name,
			     O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	enum failure failure = FAILURE_NONE;

	if (trigger < 0 && (errno != EEXIST || !is_believed(listener)))
		return FAILURE_TRIGGER;
	if (syscall(SYS_pidfd_send_signal, listener->pidfd, SIGQUIT, NULL, 0))
		failure = FAILURE_SIGNAL;
	else if (!connect_in_time(listener))
		failure = FAILURE_LISTENER;
	if (trigger >= 0)
		unlinkat(listener->temporary, listener->trigger_name, 0);
	return failure;
}

static enum failure jvm_connect(const struct listener *listener)
{
	if (!jvm_become_user(listener->user, listener->group))
		return FAILURE_CREDENTIALS;
	return connect_now(listener) ? FAILURE_NONE : wake_listener(listener);
}

static int wait_until(pid_t child, uint64_t end_ns, int *status)
{
	const struct timespec step = { 0, STEP_NS / 4 };
	pid_t ended;

	while ((ended = waitpid(child, status, WNOHANG)) != child) {
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (now_ns() >= end_ns)
			return -ETIMEDOUT;
		nanosleep(&step, NULL);
	}
	return 0;
}

/* The child has the credentials of the JVM's user, who may stop it; and that /tmp may be a file
 * system of that user's which never answers. */
static enum failure await_child(pid_t child, const struct listener *listener)
{
	int status = 0, r = wait_until(child, listener->end_ns + GRACE_NS, &status);

	if (r == -ETIMEDOUT) {
		kill(child, SIGKILL);
		(void)!wait_until(child, now_ns() + GRACE_NS, &status);
		return FAILURE_STUCK;
	}
	return !r && WIFEXITED(status) ? (enum failure)WEXITSTATUS(status) : FAILURE_CHILD;
}

static enum failure enter_as_child(const struct listener *listener)
{
	pid_t child = jvm_fork();

	if (!child)
		_exit((int)jvm_connect(listener));
	return child < 0 ? FAILURE_CHILD : await_child(child, listener);
}

static const struct {
	const char *why, *fix, *capability;
} failures[] = {
	[FAILURE_CREDENTIALS] = { "limpet may not become the user of the process",
				  "run limpet as that user", "SETUID" },
	[FAILURE_TRIGGER] = { "its file .attach_pid cannot be made in its /tmp, or another user owns it there",
			      "" },
	[FAILURE_SIGNAL] = { "it may not be sent a signal", "run limpet as its user", "KILL" },
	[FAILURE_LISTENER] = { "its attach listener did not answer within 15 s",
			       "is it started with -XX:+DisableAttachMechanism, or stopped?" },
	[FAILURE_SOCKET] = { "no socket", "" },
	[FAILURE_CHILD] = { "the child that speaks to it ended early", "" },
	[FAILURE_STUCK] = { "the child that speaks to it was stopped, or its /tmp does not answer",
			    "" },
};

static int jvm_complain(pid_t pid, enum failure failure, struct err *err)
{
	size_t at = failure < ARRAY_SIZE(failures) ? failure : FAILURE_CHILD;

	err_set(err, -EIO, "ask the JVM of %d for names", (int)pid);
	err_why(err, "%s", failures[at].why);
	if (failures[at].capability)
		rights_fix_with(err, failures[at].capability, failures[at].fix);
	else if (failures[at].fix[0])
		err_fix(err, "%s", failures[at].fix);
	return err->code;
}

/* Up to the end, or the room; -ETIMEDOUT. */
static ssize_t read_reply(const struct listener *listener, char *reply, size_t room)
{
	size_t size = 0;

	while (size < room - 1) {
		struct pollfd wait = { listener->socket, POLLIN, 0 };
		uint64_t now = now_ns();
		ssize_t got;

		if (now >= listener->end_ns)
			return -ETIMEDOUT;
		/* A signal ends the waiting, too. */
		if (poll(&wait, 1, (int)((listener->end_ns - now) / 1000000) + 1) <= 0)
			continue;
		got = recv(listener->socket, reply + size, room - 1 - size, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	return (ssize_t)size;
}

static int judge_reply(pid_t pid, char *reply, ssize_t size, struct err *err)
{
	char *text = reply + strcspn(reply, "\n"), shown[128];

	if (size > 0 && reply[0] == '0' && text == reply + 1)
		return 0;
	text_copy_printable(text_of(text + (*text == '\n')), shown, sizeof(shown));
	err_set(err, size == -ETIMEDOUT ? -ETIMEDOUT : -EIO, "ask the JVM of %d for names",
		(int)pid);
	if (size == -ETIMEDOUT)
		return err_why(err, "it took the question and did not answer within 15 s");
	err_why(err, "it answered: %s", shown[0] ? shown : "nothing");
	return err_fix(err, "Compiler.perfmap is there from JDK 17 on");
}

/* The JVM will make a file: first starts the process that removes it. */
static int begin_trace(const struct listener *listener, struct jvm_trace *trace, struct err *err)
{
	struct jvm_map_file map = { listener->temporary, listener->user, listener->group, "" };
	int r;

	snprintf(map.name, sizeof(map.name), "perf-%d.map", (int)listener->inner_pid);
	r = jvm_trace_begin(trace, &map);
	if (!r)
		return 0;
	err_set(err, r, "ask the JVM of %d for names", (int)listener->pid);
	return err_why(err, "no process can be made that takes its file away again: %s",
		       strerror(-r));
}

static int jvm_request(const struct listener *listener, struct jvm_trace *trace, struct err *err)
{
	char reply[REPLY_ROOM] = "";
	enum failure failure = enter_as_child(listener);

	if (failure)
		return jvm_complain(listener->pid, failure, err);
	if (begin_trace(listener, trace, err))
		return err->code;
	if (send(listener->socket, request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return jvm_complain(listener->pid, FAILURE_SOCKET, err);
	return judge_reply(listener->pid, reply, read_reply(listener, reply, sizeof(reply)), err);
}

static void close_listener(const struct listener *listener)
{
	const int all[] = { listener->pidfd, listener->root, listener->temporary,
			    listener->socket };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] >= 0)
			close(all[i]);
}

static int open_listener(struct listener *listener, struct err *err)
{
	const struct timeval patience = { LIMIT_NS / 1000000000u, 0 };
	int r;

	listener->root = foreign_root_open(listener->pid);
	listener->temporary =
		listener->root < 0 ? -1
				   : foreign_file_at(listener->root, "tmp", O_PATH | O_DIRECTORY);
	listener->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener->pidfd >= 0 && listener->temporary >= 0 && listener->socket >= 0) {
		setsockopt(listener->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		return 0;
	}
	r = listener->pidfd < 0       ? listener->pidfd
	    : listener->root < 0      ? listener->root
	    : listener->temporary < 0 ? listener->temporary
				      : -errno;
	err_set(err, r, "ask the JVM of %d for names: its /tmp: %s", (int)listener->pid,
		strerror(-r));
	return r == -EACCES || r == -EPERM ? err_exit(err, EXIT_NOT_PERMITTED) : r;
}

static int describe_machine(struct listener *listener, uint64_t start_tick, struct err *err)
{
	struct process_status status;
	int r = jvm_check(listener->pid, start_tick, &status, err);

	if (r)
		return r;
	listener->inner_pid = status.inner_pid;
	listener->user = status.euid;
	listener->group = status.egid;
	snprintf(listener->socket_name, sizeof(listener->socket_name), ".java_pid%d",
		 (int)status.inner_pid);
	snprintf(listener->trigger_name, sizeof(listener->trigger_name), ".attach_pid%d",
		 (int)status.inner_pid);
	return 0;
}

/* The pidfd comes first: the signal is sent to the process that was checked, or to none. */
int jvm_write_names(pid_t pid, uint64_t start_tick, struct jvm_trace *trace, struct err *err)
{
	struct listener listener = { .pid = pid,
				     .parent = getpid(),
				     .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
				     .root = -1,
				     .temporary = -1,
				     .socket = -1,
				     .end_ns = now_ns() + LIMIT_NS };
	int r;

	if (listener.pidfd < 0)
		listener.pidfd = -errno;
	r = describe_machine(&listener, start_tick, err);
	if (!r)
		r = open_listener(&listener, err);
	if (!r)
		r = jvm_request(&listener, trace, err);
	close_listener(&listener);
	return r;
}

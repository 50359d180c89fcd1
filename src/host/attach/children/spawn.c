/*
 * Starts the injector, and other children, so that the caller's process does not notice: no
 * SIGCHLD, and no child that the caller's own wait could reap.
 */
#include "host/attach/children/spawn.h"

#include "host/attach/children/blobs.h"
#include "host/core/cleanup.h"
#include "host/core/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#define MFD_EXEC        16U
#endif

#define JOB_FD           3
#define CHILD_STACK      32768
#define INJECTOR_LIMIT_S 15

/* With vm.memfd_noexec=2 only files that cannot be executed are allowed, which suffices for
 * libraries; kernels before 6.3 know neither flag. */
static int memfd_open(const char *name, bool is_program)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | (is_program ? MFD_EXEC : MFD_NOEXEC_SEAL));

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}

int blob_open(const char *name, const void *bytes, size_t size)
{
	CLEANUP(close) int fd = memfd_open(name, false);
	int r = fd < 0 ? fd : descriptor_write(fd, bytes, size);

	if (!r && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		r = -errno;
	return r ? r : TAKE_FD(fd);
}

int shared_open(const char *name, size_t size, bool is_allocated)
{
	CLEANUP(close) int fd = memfd_open(name, false);

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)size) || (is_allocated && fallocate(fd, 0, 0, (off_t)size)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return TAKE_FD(fd);
}

/* Used where a memory file may not be executed: a nameless file in a temporary directory. */
static int program_in_directory(const char *directory, const void *bytes, size_t size)
{
	char path[64];
	int readable, fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = descriptor_write(fd, bytes, size);
	if (!readable) {
		readable = open(path, O_RDONLY | O_CLOEXEC);
		readable = readable < 0 ? -errno : readable;
	}
	close(fd); /* a file open for writing cannot be executed */
	return readable;
}

int program_open(const char *name, const void *bytes, size_t size)
{
	static const char *const directories[] = { "/dev/shm", "/tmp", "/var/tmp", "/run" };
	int fd = memfd_open(name, true), r = fd < 0 ? fd : descriptor_write(fd, bytes, size);

	if (r && fd >= 0)
		close(fd);
	for (size_t i = 0; r && i < ARRAY_SIZE(directories); i++) {
		fd = program_in_directory(directories[i], bytes, size);
		r = MIN(fd, 0);
	}
	return r ? r : fd;
}

struct job *job_new(int *ret_fd)
{
	int fd = memfd_open("limpet-job", false);
	struct job *job;

	if (fd < 0 || ftruncate(fd, (off_t)job_size(0)))
		return NULL;
	job = mmap(NULL, job_size(JOB_STACKS_MAX), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (job == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	job->magic = JOB_MAGIC;
	*ret_fd = fd;
	return job;
}

int job_reserve_stacks(int fd, size_t count)
{
	return ftruncate(fd, (off_t)job_size(count)) ? -errno : 0;
}

void job_free(struct job *job, int fd)
{
	if (!job)
		return;
	munmap(job, job_size(JOB_STACKS_MAX));
	close(fd);
}

/* File capabilities (setcap) are lost at the next exec unless they are made ambient. */
ON_LENT_STACK static void keep_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return;
	data[0].inheritable = data[0].permitted;
	data[1].inheritable = data[1].permitted;
	syscall(SYS_capset, &header, data);
	for (unsigned long i = 0; i <= CAP_LAST_CAP; i++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
}

/* What the caller, the warden and the future injector share: they live in one address space. */
struct child {
	int program, job_fd, lock;
	sigset_t mask;
	int error, status; /* of its start; of its end, as in waitpid() */
	unsigned char stack[CHILD_STACK] __attribute__((aligned(16)));
};

/* In the child, on a stack of its own, with the parent's memory: only system calls. */
ON_LENT_STACK static int run_child(void *argument)
{
	const struct child *child = argument;
	char *const argv[] = { (char[]){ "limpet-injector" }, NULL }, *const envp[] = { NULL };
	int program = fcntl(child->program, F_DUPFD_CLOEXEC, JOB_FD + 1);

	keep_capabilities();
	sigprocmask(SIG_SETMASK, &child->mask, NULL);
	if (child->job_fd == JOB_FD)
		fcntl(JOB_FD, F_SETFD, 0);
	else
		dup2(child->job_fd, JOB_FD);
	fcntl(child->lock, F_SETFD, 0);
	execveat(program, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

/* The injector has deadlines of its own, but not for memory that the target itself must page in.
 * Killing it is safe: the emergency frame restores the thread. */
ON_LENT_STACK static void await_end(pid_t pid)
{
	struct pollfd wait = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };
	struct timespec limit = { INJECTOR_LIMIT_S, 0 };

	if (syscall(SYS_ppoll, &wait, 1, &limit, NULL, 0) == 0)
		kill(pid, SIGKILL);
	if (wait.fd >= 0)
		syscall(SYS_close, wait.fd);
}

/*
 * The injector's parent, also on a stack of its own in the caller's memory.  exec makes SIGCHLD the
 * exit signal of its caller, so the caller's waitpid(-1) and handlers would see a child that
 * executes the injector; they do not see the warden, which executes nothing.  All signals are
 * blocked here, and no call is a cancellation point: the thread is the caller's.
 */
ON_LENT_STACK static int run_warden(void *argument)
{
	struct child *child = argument;
	struct sigaction plain = { .sa_handler = SIG_DFL };
	pid_t pid;

	sigaction(SIGCHLD, &plain, NULL); /* a caller that ignores it would lose the status */
	pid = clone(run_child, child->stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, child);
	if (pid < 0) {
		child->error = -errno;
		return 0;
	}
	await_end(pid);
	child->error = syscall(SYS_wait4, pid, &child->status, 0, NULL) == pid ? 0 : -errno;
	return 0;
}

pid_t child_run(int (*run)(void *argument), void *argument, sigset_t *ret_mask)
{
	unsigned char stack[CHILD_STACK] __attribute__((aligned(16)));
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, ret_mask);
	pid = clone(run, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, argument);
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, ret_mask, NULL);
	return pid;
}

/* One message with the code, and the descriptor beside it. */
struct answer {
	struct iovec io;
	struct msghdr message;
	int code;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void answer_begin(struct answer *self)
{
	memset(self, 0, sizeof(*self));
	self->io = (struct iovec){ &self->code, sizeof(self->code) };
	self->message.msg_iov = &self->io;
	self->message.msg_iovlen = 1;
	self->message.msg_control = &self->control;
	self->message.msg_controllen = sizeof(self->control.bytes);
}

void handover_send(int way, int code, int fd)
{
	struct answer answer;

	answer_begin(&answer);
	answer.code = code;
	answer.control.header.cmsg_level = SOL_SOCKET;
	answer.control.header.cmsg_type = SCM_RIGHTS;
	answer.control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&answer.control.header), &fd, sizeof(fd));
	if (code)
		answer.message.msg_controllen = 0;
	syscall(SYS_sendmsg, way, &answer.message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int handover_receive(int way)
{
	struct answer answer;
	ssize_t size;
	int fd;

	answer_begin(&answer);
	size = recvmsg(way, &answer.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size != (ssize_t)sizeof(answer.code))
		return -EIO;
	if (answer.code)
		return answer.code;
	if (answer.message.msg_controllen < CMSG_LEN(sizeof(int)))
		return -EMFILE; /* no free number: the kernel drops the descriptor */
	memcpy(&fd, CMSG_DATA(&answer.control.header), sizeof(fd));
	return fd;
}

static int run_family(struct child *child)
{
	pid_t pid = child_run(run_warden, child, &child->mask);

	if (pid < 0)
		return pid;
	while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return child->error;
}

int injector_run(struct job *job, const int fds[2], struct err *err)
{
	CLEANUP(close)
	int program = program_open("limpet-injector", blob_injector,
				   (size_t)(blob_injector_end - blob_injector));
	struct child child = {
		.program = program, .job_fd = fds[0], .lock = fds[1], .error = -ECHILD
	};
	int r;

	if (program < 0)
		return err_set(err, program, "cannot make the injector program: %s",
			       strerror(-program));
	job->status = JOB_NOT_RUN;
	r = run_family(&child);
	if (r)
		return err_set(err, r, "cannot run the injector: %s", strerror(-r));
	if (WIFSIGNALED(child.status))
		return err_set(
			err, -EIO,
			"the injector was killed by signal %d; the target recovers by itself",
			WTERMSIG(child.status));
	if (WEXITSTATUS(child.status) || job->status == JOB_NOT_RUN)
		return err_set(err, -EIO, "the injector could not run (status %d)",
			       WEXITSTATUS(child.status));
	return 0;
}

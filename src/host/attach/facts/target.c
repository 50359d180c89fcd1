/*
 * Opens a process for attaching: identity first, then judgement.  Nothing here touches the target.
 */
#include "host/attach/facts/target.h"

#include "host/core/cleanup.h"
#include "host/process/foreign_file.h"
#include "host/process/inspect/attachable.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENDING_LIMIT_MS 10000

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct target *target = context;

	return memory_read(target->memory, address, into, size) ? 0 : -EFAULT;
}

/* Descriptors can be taken from a living thread only; the first thread may have ended. */
static int open_thread(const struct process *process)
{
	bool has_leader = process->memory_tid == process->pid;

	return (int)syscall(SYS_pidfd_open, process->memory_tid, has_leader ? 0 : PIDFD_THREAD);
}

static int refuse_memory(const struct process *process, int code, struct err *err)
{
	err_set(err, code, "cannot read the memory of %d (%s): /proc/%d/mem: %s", process->pid,
		process->status.name, process->pid, strerror(-code));
	if (process->stat.is_kernel_thread) {
		err_why(err, "it is part of the kernel and has no program of its own");
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	if (code != -EACCES && code != -EPERM)
		return code;
	if (process->status.euid == process->rights.uid &&
	    process->status.egid != process->rights.gid)
		err_why(err, "the process runs with group %u, limpet with another group",
			process->status.egid);
	else
		err_why(err,
			"the kernel does not let limpet read the memory of this process of user %s",
			process->user);
	err_fix(err, "%s", rights_fix());
	return err_exit(err, EXIT_NOT_PERMITTED);
}

static int open_descriptors(struct target *target, struct err *err)
{
	const struct process *process = &target->process;

	target->thread_fd = open_thread(process);
	if (target->thread_fd < 0) {
		err_set(err, -errno, "cannot attach to %d (%s): its first thread has ended",
			process->pid, process->status.name);
		err_why(err, "attaching through another thread needs Linux 6.9 or later");
		return err_exit(err, EXIT_NOT_ATTACHABLE);
	}
	target->memory = memory_open(process->memory_tid);
	return target->memory < 0 ? refuse_memory(process, target->memory, err) : 0;
}

void target_choose_thread(struct target *target)
{
	pid_t before = target->process.memory_tid;

	process_refresh(&target->process);
	if (target->process.memory_tid == before || target->thread_fd < 0)
		return;
	close(target->thread_fd);
	target->thread_fd = open_thread(&target->process);
	if (target->thread_fd >= 0 && !target_lives(target))
		close(TAKE_FD(target->thread_fd)); /* its number may have been reused */
}

/* The pidfd comes first: if its process still lives after everything was read by number, the number
 * was its own all the time. */
static int read_target(struct target *ret, pid_t pid, struct err *err)
{
	int code, r;

	memset(ret, 0, sizeof(*ret));
	ret->thread_fd = ret->memory = -1;
	ret->reader = (struct memory_reader){ read_memory, ret };
	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	code = -errno;
	r = process_read(pid, &ret->process, err);
	if (!r && ret->pidfd < 0)
		r = err_set(err, code, "pidfd_open: %s", strerror(-code));
	return r;
}

static int open_once(struct target *ret, pid_t pid, bool judges, struct err *err)
{
	int r = read_target(ret, pid, err);

	if (!r && judges)
		r = process_judge(&ret->process, err);
	else if (!r && ret->process.has_ended)
		r = target_fail_ended(err);
	if (!r)
		r = open_descriptors(ret, err);
	if (!r && !target_lives(ret))
		r = target_fail_ended(err);
	if (r)
		target_close(ret);
	return r;
}

/* Twice: the first thread may end between two reads, and the program goes on. */
static int open_target(struct target *ret, pid_t pid, bool judges, struct err *err)
{
	int r = open_once(ret, pid, judges, err);

	return r == -ESRCH ? open_once(ret, pid, judges, err) : r;
}

int target_open(struct target *ret, pid_t pid, struct err *err)
{
	return open_target(ret, pid, true, err);
}

int target_inspect(struct target *ret, pid_t pid, struct err *err)
{
	return open_target(ret, pid, false, err);
}

int target_identify(struct target *ret, pid_t pid, struct err *err)
{
	int r = read_target(ret, pid, err);

	if (!r) {
		ret->memory = MAX(memory_open(ret->process.memory_tid), -1);
		r = target_lives(ret) ? 0 : target_fail_ended(err);
	}
	if (r)
		target_close(ret);
	return r;
}

void target_close(struct target *target)
{
	process_done(&target->process);
	if (target->pidfd >= 0)
		close(target->pidfd);
	if (target->thread_fd >= 0)
		close(target->thread_fd);
	if (target->memory >= 0)
		close(target->memory);
	target->pidfd = target->thread_fd = target->memory = -1;
}

bool pidfd_lives(int pidfd)
{
	struct pollfd wait = { pidfd, POLLIN, 0 };

	return poll(&wait, 1, 0) == 0;
}

bool target_lives(const struct target *target)
{
	return pidfd_lives(target->pidfd);
}

int target_fail_ended(struct err *err)
{
	err_set(err, -ESRCH, "the process ended meanwhile");
	return err_exit(err, EXIT_NO_PROCESS);
}

/* A process that is being killed loses its memory and descriptors, and refuses ptrace, a moment
 * before it counts as ended. */
static bool may_be_ending(int code)
{
	static const int codes[] = { ESRCH, ENOENT, EPIPE, ECONNRESET, EFAULT, EAGAIN, EPERM };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (code == -codes[i])
			return true;
	return false;
}

/* The kernel makes the signal that ends a process a pending SIGKILL. */
static bool thread_is_ending(pid_t pid, pid_t tid)
{
	struct process_status status;
	struct process_stat stat;

	return status_read(pid, tid, &status, NULL) || stat_read(pid, tid, &stat, NULL) ||
	       stat.is_exiting || (status.signals_pending >> (SIGKILL - 1) & 1);
}

/* The first thread may end without the others. */
static bool is_ending(pid_t pid)
{
	CLEANUP(free) pid_t *tids = NULL;
	bool are_ending = thread_is_ending(pid, pid);
	size_t count;

	if (!are_ending || proc_list(pid, "task", &tids, &count, NULL))
		return are_ending;
	for (size_t i = 0; i < count && are_ending; i++)
		are_ending = thread_is_ending(pid, tids[i]);
	return are_ending;
}

/* The pidfd is polled first: reading /proc/PID of a process that its parent is just reaping makes
 * both spin on each other's part of the kernel's dentry cache. */
static bool has_ended(int pidfd, pid_t pid, unsigned limit_ms)
{
	struct pollfd wait = { pidfd, POLLIN, 0 };

	for (unsigned ms = 0; ms < limit_ms && pidfd_lives(pidfd) && is_ending(pid); ms++)
		poll(&wait, 1, 1);
	return !pidfd_lives(pidfd);
}

void target_prefer_end(int pidfd, pid_t pid, struct err *err)
{
	if (pidfd < 0) /* never found, as err says */
		return;
	if (has_ended(pidfd, pid, may_be_ending(err->code) ? ENDING_LIMIT_MS : 0) &&
	    err->exit != EXIT_NO_PROCESS)
		target_fail_ended(err);
}

const char *target_name(const struct target *target, char *buffer, size_t room)
{
	snprintf(buffer, room, "%d (%s)", target->process.pid, target->process.status.name);
	return buffer;
}

bool target_has_proc(const struct target *target)
{
	CLEANUP(close) int root = foreign_root_open(target->process.memory_tid);
	CLEANUP(close) int self = root < 0 ? root : foreign_file_at(root, "proc/self", O_PATH);

	return self >= 0;
}

/* The same number unless the target lives in a pid namespace. */
pid_t target_find_thread(const struct target *target, pid_t inner)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status status;
	size_t count;

	if (target->process.namespaces.pid == SAME_YES)
		return inner;
	if (proc_list(target->process.pid, "task", &tids, &count, NULL))
		return 0;
	for (size_t i = count; i-- > 0;)
		if (!status_read(target->process.pid, tids[i], &status, NULL) &&
		    status.inner_pid == inner)
			return tids[i];
	return 0;
}

int target_open_thread(const struct target *target, pid_t inner)
{
	int fd = (int)syscall(SYS_pidfd_open, target_find_thread(target, inner), PIDFD_THREAD);

	return fd < 0 ? -errno : fd;
}

bool threads_can_be_opened(void)
{
	int fd = (int)syscall(SYS_pidfd_open, gettid(), PIDFD_THREAD);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

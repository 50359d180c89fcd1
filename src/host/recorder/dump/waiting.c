/*
 * Reads /proc/PID/task/TID/syscall and resolves its arguments.  All of it may change meanwhile: it
 * is shown, never used.
 */
#include "host/recorder/dump/waiting.h"

#include "host/core/cleanup.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/status.h"
#include "shared/arch/blocked_call.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define LOCK_PI2 13u /* since Linux 5.14 */

enum argument {
	ARGUMENT_NONE,
	ARGUMENT_DESCRIPTOR, /* the first one */
	ARGUMENT_FUTEX,
};

/* The calls that threads usually wait in. */
static const struct call_words {
	int nr;
	const char *name;
	enum argument argument;
} calls[] = {
	{ SYS_futex, "futex", ARGUMENT_FUTEX },
	{ SYS_read, "read", ARGUMENT_DESCRIPTOR },
	{ SYS_readv, "readv", ARGUMENT_DESCRIPTOR },
	{ SYS_pread64, "pread64", ARGUMENT_DESCRIPTOR },
	{ SYS_write, "write", ARGUMENT_DESCRIPTOR },
	{ SYS_writev, "writev", ARGUMENT_DESCRIPTOR },
	{ SYS_pwrite64, "pwrite64", ARGUMENT_DESCRIPTOR },
	{ SYS_fsync, "fsync", ARGUMENT_DESCRIPTOR },
	{ SYS_fdatasync, "fdatasync", ARGUMENT_DESCRIPTOR },
	{ SYS_flock, "flock", ARGUMENT_DESCRIPTOR },
	{ SYS_fcntl, "fcntl", ARGUMENT_DESCRIPTOR },
	{ SYS_ioctl, "ioctl", ARGUMENT_DESCRIPTOR },
	{ SYS_accept, "accept", ARGUMENT_DESCRIPTOR },
	{ SYS_accept4, "accept4", ARGUMENT_DESCRIPTOR },
	{ SYS_connect, "connect", ARGUMENT_DESCRIPTOR },
	{ SYS_recvfrom, "recvfrom", ARGUMENT_DESCRIPTOR },
	{ SYS_recvmsg, "recvmsg", ARGUMENT_DESCRIPTOR },
	{ SYS_sendto, "sendto", ARGUMENT_DESCRIPTOR },
	{ SYS_sendmsg, "sendmsg", ARGUMENT_DESCRIPTOR },
	{ SYS_epoll_pwait, "epoll_pwait", ARGUMENT_DESCRIPTOR },
	{ SYS_epoll_pwait2, "epoll_pwait2", ARGUMENT_DESCRIPTOR },
	{ SYS_io_uring_enter, "io_uring_enter", ARGUMENT_DESCRIPTOR },
	{ SYS_ppoll, "ppoll", ARGUMENT_NONE },
	{ SYS_pselect6, "pselect6", ARGUMENT_NONE },
	{ SYS_nanosleep, "nanosleep", ARGUMENT_NONE },
	{ SYS_clock_nanosleep, "clock_nanosleep", ARGUMENT_NONE },
	{ SYS_restart_syscall, "restart_syscall", ARGUMENT_NONE },
	{ SYS_wait4, "wait4", ARGUMENT_NONE },
	{ SYS_waitid, "waitid", ARGUMENT_NONE },
	{ SYS_rt_sigtimedwait, "rt_sigtimedwait", ARGUMENT_NONE },
	{ SYS_rt_sigsuspend, "rt_sigsuspend", ARGUMENT_NONE },
	{ SYS_semtimedop, "semtimedop", ARGUMENT_NONE },
	{ SYS_msgrcv, "msgrcv", ARGUMENT_NONE },
	{ SYS_io_getevents, "io_getevents", ARGUMENT_NONE },
	{ SYS_openat, "openat", ARGUMENT_NONE },
	{ SYS_munmap, "munmap", ARGUMENT_NONE },
	{ SYS_mmap, "mmap", ARGUMENT_NONE },
	{ SYS_madvise, "madvise", ARGUMENT_NONE },
	{ SYS_exit_group, "exit_group", ARGUMENT_NONE },
#ifdef SYS_poll
	{ SYS_poll, "poll", ARGUMENT_NONE },
	{ SYS_select, "select", ARGUMENT_NONE },
	{ SYS_pause, "pause", ARGUMENT_NONE },
	{ SYS_epoll_wait, "epoll_wait", ARGUMENT_DESCRIPTOR },
#endif
};

static const struct call_words *words_of(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static void describe_descriptor(pid_t pid, int descriptor, struct waiting *ret)
{
	char name[32], link[160];

	snprintf(name, sizeof(name), "fd/%d", descriptor);
	if (proc_read_link(pid, name, link, sizeof(link)) > 0)
		snprintf(ret->object, sizeof(ret->object), "%d: %s", descriptor, link);
	else
		snprintf(ret->object, sizeof(ret->object), "%d", descriptor);
}

/* Finds a thread by its number in its own pid namespace. */
static const struct thread *thread_of(pid_t pid, const struct threads *threads, pid_t number)
{
	bool is_inner = inner_number(pid, pid) != pid;

	for (size_t i = 0; i < threads->count; i++) {
		pid_t tid = threads->items[i].tid;

		if ((is_inner ? inner_number(pid, tid) : tid) == number)
			return &threads->items[i];
	}
	return NULL;
}

/* The head of a glibc mutex: the owner is beside the word that threads wait on. */
struct mutex_head {
	uint32_t lock, count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};

#define MUTEX_ROBUST 16
#define MUTEX_KINDS  1024 /* all flags are below */
#define MUTEX_WAITED 2    /* the value of a mutex with waiting threads */

static bool is_held(const struct mutex_head *mutex)
{
	if (mutex->owner <= 0 || !mutex->users || mutex->kind < 0 || mutex->kind >= MUTEX_KINDS)
		return false;
	return mutex->kind & MUTEX_ROBUST ? (mutex->lock & FUTEX_TID_MASK) == (uint32_t)mutex->owner
					  : mutex->lock == MUTEX_WAITED;
}

/* 0: it is no mutex, or not held. */
static pid_t owner_of(pid_t pid, uint64_t address, unsigned operation)
{
	CLEANUP(close) int memory = memory_open(pid);
	struct mutex_head mutex;

	if (!memory_read(memory, address, &mutex, sizeof(mutex)))
		return 0;
	if (operation == FUTEX_LOCK_PI || operation == LOCK_PI2)
		return (pid_t)(mutex.lock & FUTEX_TID_MASK);
	return is_held(&mutex) ? mutex.owner : 0;
}

static bool is_wait(unsigned operation)
{
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
	       operation == FUTEX_LOCK_PI || operation == LOCK_PI2;
}

static void describe_futex(pid_t pid, const uint64_t args[6], const struct threads *threads,
			   struct waiting *ret)
{
	unsigned operation = (unsigned)args[1] & FUTEX_CMD_MASK;
	pid_t owner = is_wait(operation) ? owner_of(pid, args[0], operation) : 0;
	const struct thread *holder = owner > 0 ? thread_of(pid, threads, owner) : NULL;

	ret->futex = args[0];
	if (!holder) {
		snprintf(ret->object, sizeof(ret->object), "0x%" PRIx64, args[0]);
		return;
	}
	snprintf(ret->object, sizeof(ret->object), "a lock at 0x%" PRIx64 ", held by %d (%s)",
		 args[0], holder->tid, holder->name);
	ret->lock = args[0];
	ret->holder = holder->tid;
	ret->has_limit = args[3];
}

static bool read_call(pid_t pid, pid_t tid, struct blocked_call *ret)
{
	struct err ignored;
	char name[48], text[256];

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	if (proc_read_small(pid, name, text, sizeof(text), &ignored) <= 0)
		return false;
	blocked_call_parse(text, ret);
	return ret->is_known && ret->nr >= 0;
}

uint64_t waiting_futex(pid_t pid, pid_t tid)
{
	struct blocked_call call;

	return read_call(pid, tid, &call) && call.nr == SYS_futex ? call.args[0] : 0;
}

void waiting_look(pid_t pid, pid_t tid, const struct threads *threads, struct waiting *ret)
{
	const struct call_words *words;
	struct blocked_call call;

	*ret = (struct waiting){ 0 };
	if (!read_call(pid, tid, &call))
		return;
	words = words_of(call.nr);
	if (words)
		snprintf(ret->call, sizeof(ret->call), "%s", words->name);
	else
		snprintf(ret->call, sizeof(ret->call), "call %ld", call.nr);
	if (words && words->argument == ARGUMENT_DESCRIPTOR)
		describe_descriptor(pid, (int)call.args[0], ret);
	else if (words && words->argument == ARGUMENT_FUTEX)
		describe_futex(pid, call.args, threads, ret);
}

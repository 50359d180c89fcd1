/*
 * The child that removes the file.  It makes only system calls, with the JVM's credentials:
 * whatever is in that /tmp, it can do no more than the JVM's user.
 */
#include "host/process/jvm/jvm.h"

#include "host/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 1000000000ull
#define STEP_NS  1000000

bool jvm_become_user(uid_t user, gid_t group)
{
	if (geteuid() == user && getegid() == group)
		return true;
	return !syscall(SYS_setgroups, 0, NULL) && !syscall(SYS_setresgid, group, group, group) &&
	       !syscall(SYS_setresuid, user, user, user);
}

/* Until the pipe has no writer: limpet has closed its end, or has ended. */
static void wait_for_end(int pipe)
{
	char byte;

	while (read(pipe, &byte, sizeof(byte)) > 0 || errno == EINTR)
		errno = 0;
}

static void remove_file(const struct jvm_map_file *map)
{
	struct stat file;

	if (jvm_become_user(map->user, map->group) &&
	    fstatat(map->temporary, map->name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(file.st_mode) && file.st_uid == map->user)
		unlinkat(map->temporary, map->name, 0);
}

pid_t jvm_fork(void)
{
	sigset_t all, before;
	pid_t child;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (child)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	return child;
}

int jvm_trace_begin(struct jvm_trace *trace, const struct jvm_map_file *map)
{
	int ends[2], r;
	struct stat file;
	pid_t child;

	if (trace->is_watched ||
	    fstatat(map->temporary, map->name, &file, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = jvm_fork();
	if (!child) {
		close(ends[1]);
		wait_for_end(ends[0]);
		remove_file(map);
		_exit(0);
	}
	r = child < 0 ? -errno : 0;
	close(ends[0]);
	if (r)
		close(ends[1]);
	else
		*trace = (struct jvm_trace){ true, child, ends[1] };
	return r;
}

/* That /tmp may be a file system which never answers. */
void jvm_trace_end(struct jvm_trace *trace)
{
	const struct timespec step = { 0, STEP_NS };
	uint64_t end_ns = now_ns() + LIMIT_NS;

	if (!trace->is_watched)
		return;
	close(trace->pipe);
	while (!waitpid(trace->child, NULL, WNOHANG) && now_ns() < end_ns)
		nanosleep(&step, NULL);
	*trace = (struct jvm_trace){ 0 };
}

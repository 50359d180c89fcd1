/*
 * A throw-away child of limpet makes the calls; if a filter kills it, only the child is lost.
 */
#include "host/attach/facts/facts.h"

#include "shared/wire/needs.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool lives_under_same_filters(const struct target *target)
{
	struct process_status self;

	return !status_read(getpid(), getpid(), &self, NULL) && self.seccomp == 2 &&
	       self.seccomp_filters == target->process.status.seccomp_filters &&
	       target->process.namespaces.pid == SAME_YES &&
	       target->process.namespaces.mnt == SAME_YES;
}

/* The arguments make each call fail or do nothing; only the filter's verdict counts.  EPERM and
 * ENOSYS are what filters return. */
static void try_calls(void)
{
	for (size_t i = 0; i < needs_count; i++) {
		long r;

		if (needs[i].nr == SYS_exit || needs[i].nr == SYS_clone ||
		    needs[i].nr == SYS_clone3)
			continue;
		r = syscall((long)needs[i].nr, -1L, 0L, -1L, 0L, -1L, 0L);
		if (r < 0 && !needs[i].may_fail && (errno == EPERM || errno == ENOSYS))
			_exit(1);
	}
	_exit(0);
}

bool seccomp_trial_passes(const struct target *target)
{
	int status;
	pid_t pid;

	if (!lives_under_same_filters(target))
		return false;
	/* Like fork, without an exit signal: a caller of the library does not see this child. */
	pid = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (pid == 0)
		try_calls();
	if (pid < 0 || waitpid(pid, &status, __WALL) != pid)
		return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

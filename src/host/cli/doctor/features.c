/*
 * Examines the rights and features of this machine.  Tries a ptrace on a child of its own; touches
 * nothing else.
 */
#include "host/cli/doctor/doctor.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIX_PTRACE "sudo limpet ..., or for a group: " RIGHTS_SETUP

static struct finding finding_full(const char *level)
{
	return (struct finding){ FEATURE_FULL, level, "", "" };
}

static struct finding finding_part(const char *level, const char *missing, const char *fix)
{
	return (struct finding){ FEATURE_PART, level, missing, fix };
}

static struct finding finding_none(const char *missing, const char *fix)
{
	return (struct finding){ FEATURE_NONE, "nothing", missing, fix };
}

static struct finding examine_processes(const struct rights *rights)
{
	(void)rights;
	if (access("/proc/1/status", R_OK) == 0)
		return finding_full("every process");
	return finding_part("own processes", "/proc is mounted with hidepid", "sudo limpet ps");
}

/* 0, or -errno: whether this process may trace a child at all.  A container's seccomp filter can
 * forbid it. */
static int try_ptrace(void)
{
	pid_t child = fork();
	int r = 0;

	if (child < 0)
		return -errno;
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, child, 0, 0) < 0)
		r = -errno;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

/* Since Linux 5.6; old seccomp profiles deny it, too. */
static bool has_pidfd_getfd(void)
{
	long pidfd = syscall(SYS_pidfd_open, getpid(), 0), copy = -1;

	if (pidfd >= 0) {
		copy = syscall(SYS_pidfd_getfd, (int)pidfd, (int)pidfd, 0);
		close((int)pidfd);
	}
	if (copy >= 0)
		close((int)copy);
	return copy >= 0;
}

static struct finding examine_attach(const struct rights *rights)
{
	if (rights->yama_scope == 3)
		return finding_none("kernel.yama.ptrace_scope is 3",
				    "set it to 0 or 1 in /etc/sysctl.d and reboot");
	if (try_ptrace() < 0)
		return finding_none(
			"the system call ptrace (seccomp)",
			"docker run --cap-add SYS_PTRACE --security-opt seccomp=unconfined ...");
	if (!has_pidfd_getfd())
		return finding_none("the system call pidfd_getfd",
				    "Linux 5.10 or newer, and a seccomp profile that knows it");
	if (!rights_have(rights, CAPABILITY_SYS_PTRACE) && rights->yama_scope <= 0)
		return finding_part("own processes", "CAP_SYS_PTRACE for others'", FIX_PTRACE);
	if (!rights_have(rights, CAPABILITY_SYS_PTRACE) && rights->yama_scope == 1)
		return finding_part("own children", "kernel.yama.ptrace_scope is 1",
				    "sudo sysctl kernel.yama.ptrace_scope=0, or sudo limpet ...");
	if (!rights_have(rights, CAPABILITY_SYS_PTRACE))
		return finding_none("kernel.yama.ptrace_scope is 2", FIX_PTRACE);
	if (!rights_have(rights, CAPABILITY_DAC_OVERRIDE))
		return finding_part("own processes", "CAP_DAC_OVERRIDE for others'", FIX_PTRACE);
	return finding_full(rights->is_user_namespace ? "any process of this user namespace"
						      : "any process");
}

static struct finding examine_tools(const struct rights *rights)
{
	(void)rights; /* not even vm.memfd_noexec forbids a library that is only mapped */
	return finding_full("by path, or from memory where the path is not visible");
}

static struct finding examine_pause(const struct rights *rights)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_RTPRIO, &limit);
	if (rights_have(rights, CAPABILITY_SYS_NICE) || limit.rlim_cur > 0)
		return finding_full(
			"real-time priority while a thread is stopped: the pause is short");
	return finding_part("normal priority: longer pauses on a busy machine", "CAP_SYS_NICE",
			    FIX_PTRACE);
}

static struct finding examine_sandboxes(const struct rights *rights)
{
	if (rights_have(rights, CAPABILITY_SYS_ADMIN))
		return finding_full("filters of the target are read first, and respected");
	return finding_part("only with the same filters as limpet, or with --force",
			    "CAP_SYS_ADMIN to read seccomp filters", "sudo limpet ...");
}

const struct feature features[] = {
	{ "processes", "ps, doctor, status", examine_processes },
	{ "attach", "attach, detach", examine_attach },
	{ "tools", "attach --tool", examine_tools },
	{ "real-time", "attach", examine_pause },
	{ "seccomp", "attach to a process with seccomp filters", examine_sandboxes },
	{ 0 },
};

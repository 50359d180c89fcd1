/*
 * Programs with less than the usual rights or room: not dumpable, another user, system calls
 * filtered, an empty root, namespaces, tight limits, locked memory.  After the setting up they
 * sleep or compute.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY    65534
#define LONE_USER 61234 /* a number that nobody else on the machine has */

static void nondumpable_run(const void *data)
{
	(void)data;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		workload_skip("prctl");
	workload_ready();
	workload_idle();
}

static void user_become(uid_t user)
{
	if (setgroups(0, NULL) < 0 || setresgid(user, user, user) < 0 ||
	    setresuid(user, user, user) < 0)
		workload_skip("setresuid");
}

static void other_user_run(const void *data)
{
	(void)data;
	user_become(NOBODY);
	workload_ready();
	workload_idle();
}

/* Neither /proc nor a library nor a place to write: the root is a directory that was removed. */
static void empty_root_run(const void *data)
{
	char path[] = "/tmp/workload-root-XXXXXX";

	(void)data;
	if (!mkdtemp(path) || chdir(path) < 0 || rmdir(path) < 0 || chroot(".") < 0)
		workload_skip("chroot");
	workload_ready();
	workload_idle();
}

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		workload_skip(path);
	close(fd);
}

/* Another view of the files too: the place where test libraries lie is covered. */
static void namespace_child(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)
		_exit(WORKLOAD_SKIP);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!atomic_load(&stats->pid))
		sleep_ns(NS_PER_MS);
	workload_ready();
	workload_idle();
}

static void namespaces_run(const void *data)
{
	char map[64];
	uid_t user = geteuid();
	pid_t child;
	int status;

	(void)data;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) < 0)
		workload_skip("unshare");
	file_write("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", user);
	file_write("/proc/self/uid_map", map);
	child = fork();
	if (child == 0)
		namespace_child();
	atomic_store(&stats->pid, (uint64_t)child);
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKLOAD_SKIP)
		workload_skip("mount in the namespace");
	_exit(1);
}

static void limit_set(int resource, rlim_t value)
{
	struct rlimit limit = { value, value };

	if (setrlimit(resource, &limit) < 0)
		workload_skip("setrlimit");
}

static void limit_processes_run(const void *data)
{
	(void)data;
	user_become(LONE_USER);
	limit_set(RLIMIT_NPROC, 1);
	workload_ready();
	workload_idle();
}

static rlim_t address_space_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		workload_skip("/proc/self/statm");
	fclose(file);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* data: how many bytes of address space are left. */
static void limit_memory_run(const void *data)
{
	limit_set(RLIMIT_AS, address_space_bytes() + *(const rlim_t *)data);
	workload_ready();
	workload_idle();
}

static void limit_files_run(const void *data)
{
	(void)data;
	limit_set(RLIMIT_NOFILE, 16);
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
	if (errno != EMFILE)
		workload_skip("open");
	workload_ready();
	workload_idle();
}

/* One limit, and the program beyond it: what is there stays, nothing more comes. */
struct resource_limit {
	int resource;
	rlim_t value;
};

static void resource_run(const void *data)
{
	const struct resource_limit *limit = data;

	limit_set(limit->resource, limit->value);
	workload_ready();
	workload_idle();
}

static const struct resource_limit no_stack = { RLIMIT_STACK, 16 * 1024 },
				   no_locked = { RLIMIT_MEMLOCK, 0 },
				   no_files = { RLIMIT_FSIZE, 0 }, no_core = { RLIMIT_CORE, 0 },
				   no_signals = { RLIMIT_SIGPENDING, 0 },
				   no_data = { RLIMIT_DATA, 0 }, little_time = { RLIMIT_CPU, 60 };

static void locked_run(const void *data)
{
	(void)data;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		workload_skip("mlockall");
	workload_ready();
	workload_idle();
}

static const rlim_t memory_none = 64 * 1024, memory_little = 8 * 1024 * 1024;

/* mlockall with the usual limit: 8 MiB more are too much. */
static void locked_scarce_run(const void *data)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct rights[2];
	struct rlimit limit = { 8 << 20, 8 << 20 };

	(void)data;
	syscall(SYS_capget, &header, rights);
	rights[0].effective &= ~(1u << CAP_IPC_LOCK);
	syscall(SYS_capset, &header, rights);
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || mlockall(MCL_FUTURE))
		workload_skip("memory cannot be locked");
	workload_ready();
	workload_idle();
}

const struct workload workloads[] = {
	{ "locked_scarce", locked_scarce_run, NULL },
	{ "nondumpable", nondumpable_run, NULL },
	{ "other_user", other_user_run, NULL },
	{ "empty_root", empty_root_run, NULL },
	{ "namespaces", namespaces_run, NULL },
	{ "limit_processes", limit_processes_run, NULL },
	{ "limit_memory", limit_memory_run, &memory_none },
	{ "little_memory", limit_memory_run, &memory_little },
	{ "limit_files", limit_files_run, NULL },
	{ "locked", locked_run, NULL },
	{ "limit_stack", resource_run, &no_stack },
	{ "limit_locked", resource_run, &no_locked },
	{ "limit_written", resource_run, &no_files },
	{ "limit_core", resource_run, &no_core },
	{ "limit_signals", resource_run, &no_signals },
	{ "limit_data", resource_run, &no_data },
	{ "limit_time", resource_run, &little_time },
	{ NULL, NULL, NULL },
};

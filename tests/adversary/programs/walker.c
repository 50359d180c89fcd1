/*
 * A program in a root directory of its own, without /proc, as a container is: one thread of it
 * tries every descriptor that appears in the process for a way out.  What it finds is counted as a
 * corruption: the file SECRET of the host, one made beside it, or a descriptor of another process.
 */
#include "../../programs/workload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS 1024
#define OF_OTHERS   32 /* numbers to ask another process for */
#define DEPTH       10
#define DOCKER      0xa80425fbull /* what its containers have unless told otherwise */
#define WITH_PTRACE (DOCKER | 1ull << CAP_SYS_PTRACE)
#define NONE        0ull
#define ALL         (~0ull)

struct prison {
	bool is_container; /* namespaces of its own, else only chroot */
	uint64_t capabilities;
};

static char secret[256], written[300];
static struct stat secret_file;
static bool was_open[DESCRIPTORS];
static int home; /* its own root */
static union {
	struct file_handle handle;
	char bytes[sizeof(struct file_handle) + 128];
} secret_handle;

static void secret_remember(void)
{
	const char *path = getenv("SECRET");
	int mount;

	if (!path || stat(path, &secret_file))
		workload_skip("SECRET names no file");
	snprintf(secret, sizeof(secret), "%s", path);
	snprintf(written, sizeof(written), "%s.written", path);
	secret_handle.handle.handle_bytes = 128;
	if (name_to_handle_at(AT_FDCWD, path, &secret_handle.handle, &mount, 0))
		secret_handle.handle.handle_bytes = 0;
}

static void judge(int fd, const char *how)
{
	struct stat file;

	if (fd < 0)
		return;
	if (!fstat(fd, &file) && file.st_dev == secret_file.st_dev &&
	    file.st_ino == secret_file.st_ino)
		workload_corrupt(how);
	close(fd);
}

/* From a directory, up and down again. */
static void walk_from(int fd, const char *by)
{
	char path[800], up[4 * DEPTH] = "";
	int made;

	for (unsigned i = 0; i <= DEPTH; i++) {
		snprintf(path, sizeof(path), "%s%s%s", by, up, secret);
		judge(openat(fd, path[0] == '/' ? path + 1 : path, O_RDONLY),
		      "read the host's file");
		snprintf(path, sizeof(path), "%s%s%s", by, up, written);
		made = openat(fd, path[0] == '/' ? path + 1 : path, O_CREAT | O_WRONLY, 0600);
		if (made >= 0) {
			workload_corrupt("wrote a file");
			close(made);
		}
		strcat(up, i ? "/.." : "..");
	}
}

/* Magic links of a /proc. */
static void follow_links(int fd)
{
	static const char *const links[] = { "root",    "cwd",    "self/root",   "1/root",
					     "../root", "../cwd", "../../1/root" };
	char name[16];

	for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		walk_from(fd, links[i]);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "%u", i);
		walk_from(fd, name);
	}
}

/* The directories of this thread are its own.  It comes home: with a root that one descriptor has
 * given it, another inside its prison would lead out, which needs nobody's help. */
static void go_there(int fd)
{
	if (fchdir(fd))
		return;
	walk_from(AT_FDCWD, "");
	(void)!chroot(".");
	for (unsigned i = 0; i < DEPTH; i++)
		(void)!chdir("..");
	(void)!chroot(".");
	judge(open(secret, O_RDONLY), "read the host's file from a new root");
	(void)!fchdir(home);
	(void)!chroot(".");
}

static void reach_into(int fd)
{
	int (*join_namespace)(int, int) = dlsym(RTLD_DEFAULT, "setns");

	for (int i = 0; i < OF_OTHERS; i++) {
		int taken = (int)syscall(SYS_pidfd_getfd, fd, i, 0);

		if (taken < 0)
			continue;
		workload_corrupt("took a descriptor of another process");
		close(taken);
	}
	/* Not as an import: limpet notices those, and would leave before all is tried. */
	if (join_namespace && !join_namespace(fd, CLONE_NEWNS))
		workload_corrupt("entered the mounts of another process");
}

static void try_descriptor(int fd)
{
	walk_from(fd, "");
	follow_links(fd);
	go_there(fd);
	reach_into(fd);
	if (secret_handle.handle.handle_bytes)
		judge(open_by_handle_at(fd, &secret_handle.handle, O_RDONLY),
		      "opened the host's file by its handle");
}

static void *look_for_a_way_out(void *unused)
{
	(void)unused;
	if (unshare(CLONE_FS))
		workload_fail("unshare");
	for (;;)
		for (int fd = 0; fd < DESCRIPTORS; fd++)
			if (!was_open[fd] && fcntl(fd, F_GETFD) >= 0)
				try_descriptor(fd);
	return NULL;
}

static void capabilities_keep(uint64_t mask)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		workload_skip("capget");
	for (unsigned i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(mask >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data))
		workload_skip("capset");
}

/* A new file system, and nothing of the old ones. */
static void root_pivot(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) || chdir("/tmp") ||
	    syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		workload_skip("a root of its own");
}

/* A directory that was removed. */
static void root_change(void)
{
	char path[] = "/tmp/walker-root-XXXXXX";

	if (!mkdtemp(path) || chdir(path) || rmdir(path) || chroot("."))
		workload_skip("chroot");
}

static void live(const struct prison *prison)
{
	secret_remember();
	if (prison->is_container)
		root_pivot();
	else
		root_change();
	home = open(".", O_PATH | O_DIRECTORY);
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	capabilities_keep(prison->capabilities);
	thread_start(look_for_a_way_out, NULL, 0);
	prctl(PR_SET_DUMPABLE, 1);
	while (prison->is_container && !atomic_load(&stats->pid))
		sleep_ns(NS_PER_MS);
	workload_ready();
	workload_idle();
}

static void container_run(const struct prison *prison)
{
	pid_t child;
	int status;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID))
		workload_skip("unshare");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live(prison);
	}
	atomic_store(&stats->pid, (uint64_t)child);
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void prison_run(const void *data)
{
	const struct prison *prison = data;

	if (prison->is_container)
		container_run(prison);
	live(prison);
}

static const struct prison docker = { true, DOCKER }, bare = { true, NONE },
			   ptrace = { true, WITH_PTRACE }, chrooted = { false, ALL };

const struct workload workloads[] = {
	{ "docker", prison_run, &docker },
	{ "bare", prison_run, &bare },
	{ "ptrace", prison_run, &ptrace },
	{ "chrooted", prison_run, &chrooted },
	{ NULL, NULL, NULL },
};

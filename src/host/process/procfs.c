/*
 * Reads files below /proc/PID; stops nothing, needs no right but that of the file itself.
 */
#include "host/process/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/process/rights_fix.h"

/* 262144 mappings (a common vm.max_map_count) of long paths stay below this. */
#define PROC_MAX_BYTES ((size_t)256 << 20)

DEFINE_CLEANUP(DIR *, closedir)

static void proc_path(pid_t pid, const char *name, char *path, size_t capacity)
{
	if (pid)
		snprintf(path, capacity, "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, capacity, "/proc/%s", name);
}

int proc_check(struct err *err)
{
	struct statfs file_system;

	if (access("/proc/self/stat", F_OK) == 0)
		return 0;
	if (statfs("/proc", &file_system) || file_system.f_type != PROC_SUPER_MAGIC) {
		err_set(err, -ENOSYS, "/proc is not mounted here");
		err_why(err, "limpet learns from it which processes there are");
	} else {
		err_set(err, -ENOSYS, "/proc does not show limpet itself");
		err_why(err, "it was mounted for another pid namespace");
	}
	return err_fix(err, "mount it, as root: mount -t proc proc /proc");
}

static int explain_missing_process(pid_t pid, struct err *err)
{
	char path[32];

	if (proc_check(err))
		return err->code;
	proc_path(pid, "", path, sizeof(path));
	/* Signals reach a process that /proc does not show. */
	if (!pid || !access(path, F_OK) || (kill(pid, 0) && errno != EPERM)) {
		err_set(err, -ESRCH, "there is no process %d", (int)pid);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	err_set(err, -EACCES, "cannot look at process %d", (int)pid);
	err_why(err, "/proc is mounted with hidepid and hides the processes of other users");
	rights_fix_with(err, "SYS_PTRACE", NULL); /* hidepid requires that one */
	return err_exit(err, EXIT_NOT_PERMITTED);
}

int proc_error(pid_t pid, const char *name, int code, struct err *err)
{
	struct err unwanted;

	err = err ? err : &unwanted;
	if (code == -ENOENT || code == -ESRCH)
		return explain_missing_process(pid, err);
	err_set(err, code, "read /proc/%d/%s: %s", (int)pid, name, strerror(-code));
	if (code == -EACCES || code == -EPERM)
		err_exit(err, EXIT_NOT_PERMITTED);
	return code;
}

int proc_read(pid_t pid, const char *name, char **ret, size_t *ret_size, struct err *err)
{
	char path[96];
	int r;

	proc_path(pid, name, path, sizeof(path));
	r = text_read_file(path, PROC_MAX_BYTES, ret, ret_size);
	return r < 0 ? proc_error(pid, name, r, err) : 0;
}

ssize_t proc_read_small(pid_t pid, const char *name, char *buffer, size_t capacity, struct err *err)
{
	char path[96];
	ssize_t size;

	proc_path(pid, name, path, sizeof(path));
	size = text_read_small(path, buffer, capacity);
	return size < 0 ? proc_error(pid, name, (int)size, err) : size;
}

ssize_t proc_read_link(pid_t pid, const char *name, char *buffer, size_t capacity)
{
	char path[96];
	ssize_t size;

	proc_path(pid, name, path, sizeof(path));
	size = readlink(path, buffer, capacity - 1);
	if (size < 0)
		return -errno;
	buffer[size] = '\0';
	return size;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* Appends a directory's entries; -ESRCH when it is empty: the process has ended meanwhile. */
static int collect_pids(DIR *directory, pid_t **pids, size_t *count)
{
	size_t room = 0;
	struct dirent *entry;

	while ((entry = readdir(directory))) {
		pid_t pid;

		if (text_parse_pid(entry->d_name, &pid) < 0)
			continue;
		if (append_item(pids, count, &room, &pid, sizeof(pid)))
			return -ENOMEM;
	}
	return *count ? 0 : -ESRCH;
}

int proc_list(pid_t pid, const char *name, pid_t **ret, size_t *ret_count, struct err *err)
{
	CLEANUP(closedir) DIR *directory = NULL;
	CLEANUP(free) pid_t *pids = NULL;
	size_t count = 0;
	char path[96];
	int r;

	proc_path(pid, name, path, sizeof(path));
	directory = opendir(path);
	if (!directory)
		return proc_error(pid, name, -errno, err);
	r = collect_pids(directory, &pids, &count);
	if (r < 0)
		return proc_error(pid, name, r, err);
	qsort(pids, count, sizeof(*pids), compare_pids);
	*ret_count = count;
	*ret = TAKE(pids);
	return 0;
}

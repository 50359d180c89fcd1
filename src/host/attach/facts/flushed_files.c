/*
 * A file system is asked only of names that a queue can have: others may never answer.  What the
 * others are is told by the lists of mounts, the target's own and limpet's: the target may have
 * files from outside of its namespace.
 */
#include "host/attach/facts/flushed_files.h"

#include "host/core/cleanup.h"
#include "host/process/file_system.h"
#include "host/process/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#define MQUEUE_MAGIC 0x19800202 /* the kernel's, in none of its headers for programs */
#define COPIED_MAX   512        /* of higher numbers a thread that leaves the table has no copy */

DEFINE_CLEANUP(DIR *, closedir)

/* mq_open gives "/name"; the mounted file system "/dev/mqueue/name". */
static bool is_queue_name(const char *name)
{
	return name[0] == '/' && (!strchr(name + 1, '/') || strstr(name, "mqueue/"));
}

/* Of the mount that a descriptor leads to, as fdinfo has it. */
static bool has_flushed_mount(pid_t tid, int number)
{
	char file[32], text[256];
	const char *at;
	struct err ignored;

	snprintf(file, sizeof(file), "fdinfo/%d", number);
	if (proc_read_small(tid, file, text, sizeof(text), &ignored) < 0)
		return false; /* it was closed meanwhile */
	at = strstr(text, "mnt_id:");
	return at && mount_is_flushed(tid, strtoull(at + strlen("mnt_id:"), NULL, 10));
}

static bool may_be_flushed(pid_t tid, int number, bool has_mounts)
{
	char file[32], path[64], name[256];
	struct statfs system;
	ssize_t size;

	snprintf(file, sizeof(file), "fd/%d", number);
	snprintf(path, sizeof(path), "/proc/%d/%s", tid, file);
	size = proc_read_link(tid, file, name, sizeof(name));
	if (size < 0)
		return size != -ENOENT;
	if (is_queue_name(name) && !statfs(path, &system) && system.f_type == MQUEUE_MAGIC)
		return true;
	return has_mounts && name[0] == '/' && has_flushed_mount(tid, number);
}

/* The kernel lists descriptors in the order of their numbers. */
static bool has_flushed_file(pid_t tid, DIR *descriptors)
{
	bool has_mounts = mounts_are_flushed(tid);
	struct dirent *entry;
	int number;

	while ((errno = 0, entry = readdir(descriptors))) {
		if (entry->d_name[0] == '.')
			continue;
		number = atoi(entry->d_name);
		if (number >= COPIED_MAX)
			return false;
		if (may_be_flushed(tid, number, has_mounts))
			return true;
	}
	return errno != 0;
}

bool flushed_files_are_open(const struct target *target)
{
	CLEANUP(closedir) DIR *descriptors = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", target->process.memory_tid);
	descriptors = opendir(path);
	return !descriptors || has_flushed_file(target->process.memory_tid, descriptors);
}

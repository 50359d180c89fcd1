/*
 * Queries file systems only for names that a queue can have: others may never answer.  The lists of
 * mounts, the target's and limpet's, show what the others are: the target may have files from
 * outside of its namespace.  A mount that is in neither list, as after umount -l, may be of any
 * kind.
 */
#include "host/attach/facts/facts.h"

#include "host/core/cleanup.h"
#include "host/process/file_system.h"
#include "host/process/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#define MQUEUE_MAGIC 0x19800202 /* the kernel's, in none of its uapi headers */
#define COPIED_MAX   512        /* a thread that leaves the table has no copies of higher numbers */
#define HARMLESS_MAX 16u

DEFINE_CLEANUP(DIR *, closedir)

/* mq_open gives "/name"; the mounted file system "/dev/mqueue/name". */
static bool is_queue_name(const char *name)
{
	return name[0] == '/' && (!strchr(name + 1, '/') || strstr(name, "mqueue/"));
}

/* Shared memory and the like: the kernel has mounted it for itself, and no list has it. */
static bool is_kernels_name(const char *name)
{
	static const char *const names[] = { "/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage",
					     "/[aio]",  "/i915", "/dmabuf:",  "/drm mm object" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Mounts already found to be harmless. */
struct harmless {
	uint64_t numbers[HARMLESS_MAX];
	unsigned count;
};

static bool may_be_flushed_mount(pid_t tid, uint64_t number, struct harmless *harmless)
{
	for (unsigned i = 0; i < harmless->count; i++)
		if (harmless->numbers[i] == number)
			return false;
	if (mount_may_be_flushed(tid, number))
		return true;
	if (harmless->count < HARMLESS_MAX)
		harmless->numbers[harmless->count++] = number;
	return false;
}

/* The mount of a descriptor, from its fdinfo. */
static bool has_flushed_mount(pid_t tid, int number, struct harmless *harmless)
{
	char file[32], text[256];
	const char *at;

	snprintf(file, sizeof(file), "fdinfo/%d", number);
	if (proc_read_small(tid, file, text, sizeof(text), NULL) < 0)
		return false; /* it was closed meanwhile */
	at = strstr(text, "mnt_id:");
	return at &&
	       may_be_flushed_mount(tid, strtoull(at + strlen("mnt_id:"), NULL, 10), harmless);
}

/* An open queue need not be mounted anywhere: then its mount is in no list. */
static bool may_be_flushed(pid_t tid, int number, struct harmless *harmless)
{
	char file[32], name[256], path[64];
	struct statfs system;
	ssize_t size;

	snprintf(file, sizeof(file), "fd/%d", number);
	size = proc_read_link(tid, file, name, sizeof(name));
	if (size < 0)
		return size != -ENOENT;
	if (name[0] != '/' || is_kernels_name(name))
		return false;
	if (has_flushed_mount(tid, number, harmless))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, number);
	return is_queue_name(name) && !statfs(path, &system) && system.f_type == MQUEUE_MAGIC;
}

/* The kernel lists descriptors in the order of their numbers. */
bool flushed_files_are_open(const struct target *target)
{
	CLEANUP(closedir) DIR *descriptors = NULL;
	pid_t tid = target->process.memory_tid;
	struct harmless harmless = { 0 };
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	descriptors = opendir(path);
	while (descriptors && (errno = 0, entry = readdir(descriptors))) {
		int number = atoi(entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		if (number >= COPIED_MAX)
			return false;
		if (may_be_flushed(tid, number, &harmless))
			return true;
	}
	return !descriptors || errno != 0;
}

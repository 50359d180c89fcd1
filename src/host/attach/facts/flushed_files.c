/*
 * Queries file systems only for names that a queue can have: others may never answer.  The lists of
 * mounts, the target's and limpet's, show what the others are: the target may have files from
 * outside of its namespace.  A mount that is in neither list, as after umount -l, may be of any
 * kind.
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

static bool is_harmless(const struct harmless *self, uint64_t number)
{
	for (unsigned i = 0; i < self->count; i++)
		if (self->numbers[i] == number)
			return true;
	return false;
}

static bool may_be_flushed_mount(pid_t tid, uint64_t number, struct harmless *harmless)
{
	if (is_harmless(harmless, number))
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
	struct err ignored;

	snprintf(file, sizeof(file), "fdinfo/%d", number);
	if (proc_read_small(tid, file, text, sizeof(text), &ignored) < 0)
		return false; /* it was closed meanwhile */
	at = strstr(text, "mnt_id:");
	return at &&
	       may_be_flushed_mount(tid, strtoull(at + strlen("mnt_id:"), NULL, 10), harmless);
}

static bool is_queue(pid_t tid, int number)
{
	struct statfs system;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, number);
	return !statfs(path, &system) && system.f_type == MQUEUE_MAGIC;
}

/* An open queue need not be mounted anywhere: then its mount is in no list. */
static bool may_be_flushed(pid_t tid, int number, struct harmless *harmless)
{
	char file[32], name[256];
	ssize_t size;

	snprintf(file, sizeof(file), "fd/%d", number);
	size = proc_read_link(tid, file, name, sizeof(name));
	if (size < 0)
		return size != -ENOENT;
	if (name[0] != '/' || is_kernels_name(name))
		return false;
	return has_flushed_mount(tid, number, harmless) ||
	       (is_queue_name(name) && is_queue(tid, number));
}

/* The kernel lists descriptors in the order of their numbers. */
static bool has_flushed_file(pid_t tid, DIR *descriptors)
{
	struct harmless harmless = { 0 };
	struct dirent *entry;
	int number;

	while ((errno = 0, entry = readdir(descriptors))) {
		if (entry->d_name[0] == '.')
			continue;
		number = atoi(entry->d_name);
		if (number >= COPIED_MAX)
			return false;
		if (may_be_flushed(tid, number, &harmless))
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

/*
 * The file system is asked only of names that a queue can have: others may never answer.  Host
 * only.
 */
#include "host/attach/facts/queues.h"

#include "host/core/cleanup.h"
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

static bool may_be_queue(pid_t tid, int number)
{
	char file[32], path[64], name[256];
	struct statfs system;
	ssize_t size;

	snprintf(file, sizeof(file), "fd/%d", number);
	snprintf(path, sizeof(path), "/proc/%d/%s", tid, file);
	size = proc_read_link(tid, file, name, sizeof(name));
	if (size < 0)
		return size != -ENOENT;
	return is_queue_name(name) && !statfs(path, &system) && system.f_type == MQUEUE_MAGIC;
}

/* The kernel lists descriptors in the order of their numbers. */
static bool has_queue(pid_t tid, DIR *descriptors)
{
	struct dirent *entry;
	int number;

	while ((errno = 0, entry = readdir(descriptors))) {
		if (entry->d_name[0] == '.')
			continue;
		number = atoi(entry->d_name);
		if (number >= COPIED_MAX)
			return false;
		if (may_be_queue(tid, number))
			return true;
	}
	return errno != 0;
}

bool queues_are_open(const struct target *target)
{
	CLEANUP(closedir) DIR *descriptors = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", target->process.memory_tid);
	descriptors = opendir(path);
	return !descriptors || has_queue(target->process.memory_tid, descriptors);
}

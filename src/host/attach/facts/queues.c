/*
 * The file system is asked only of names that a queue can have: others may never answer.  Host
 * only.
 */
#include "host/attach/facts/queues.h"

#include "host/process/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#define MQUEUE_MAGIC 0x19800202 /* the kernel's, in none of its headers for programs */
#define COPIED_MAX   512        /* of higher numbers a thread that leaves the table has no copy */

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

bool queues_are_open(const struct target *target)
{
	for (int number = 0; number < COPIED_MAX; number++)
		if (may_be_queue(target->process.memory_tid, number))
			return true;
	return false;
}

/*
 * Lists the threads of the process in /proc, and reads their states.
 */
#include "injector/injector.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAT_MAX    1536
#define LIST_BYTES  4096
#define STATE_FIELD 1 /* in /proc's stat, counted from the name's closing parenthesis */

/* The layout of getdents64. */
struct listed {
	uint64_t inode, next;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* The begin of a field in the thread's stat, or NULL. */
static const char *find_field(const struct job *job, int tid, unsigned field, char *text)
{
	const char *at;

	job_read_proc_of(job, tid, "stat", text, STAT_MAX);
	at = strrchr(text, ')');
	for (unsigned i = 0; at && i < field; i++)
		at = strchr(at + 1, ' ');
	return at;
}

long thread_stat(const struct job *job, int tid, unsigned field)
{
	char text[STAT_MAX];
	const char *at = find_field(job, tid, field, text);

	return at ? strtol(at, NULL, 10) : 0;
}

/* True also while it waits for memory. */
static bool is_runnable(const struct job *job, int tid)
{
	char text[STAT_MAX];
	const char *at = find_field(job, tid, STATE_FIELD, text);

	return at && (at[1] == 'R' || at[1] == 'D');
}

bool thread_is_other_runnable(const struct job *job, int tid)
{
	return tid != job->tid && is_runnable(job, tid);
}

static long count_listed(const struct job *job, const char *list, long size, thread_test *test)
{
	const struct listed *entry;
	long count = 0;

	for (long at = 0; at < size; at += entry->size) {
		entry = (const void *)(list + at);
		count += entry->name[0] != '.' && test(job, atoi(entry->name));
	}
	return count;
}

long threads_count(const struct job *job, thread_test *test)
{
	_Alignas(struct listed) char list[LIST_BYTES], path[32];
	long count = 0, size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", job->pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && (size = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0)
		count += count_listed(job, list, size, test);
	if (fd >= 0)
		close(fd);
	return count;
}

/*
 * The target's memory and its files in /proc, and the job's answer.  The memory is read through a
 * descriptor opened before the stop: if the target executes another program, the descriptor still
 * belongs to the old one, and no write can reach the new image.
 */
#include "injector/injector.h"

#include <errno.h>
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

int job_fail(struct job *job, enum job_status status, int error)
{
	job->status = status;
	job->error = error;
	return -1;
}

void job_read_proc(const struct job *job, const char *name, char *text, size_t room)
{
	job_read_proc_of(job, job->tid, name, text, room);
}

void job_read_proc_of(const struct job *job, int tid, const char *name, char *text, size_t room)
{
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", job->pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[MAX(size, 0)] = 0;
}

void job_read_call(const struct job *job, struct blocked_call *ret)
{
	char text[256];

	job_read_proc(job, "syscall", text, sizeof(text));
	blocked_call_parse(text, ret);
}

int memory_open(struct stopped *self)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", self->job->pid, self->job->tid);
	self->memory = open(path, O_RDWR | O_CLOEXEC);
	return self->memory < 0
		       ? job_fail(self->job,
				  errno == ENOENT || errno == ESRCH ? JOB_GONE : JOB_NO_SEIZE,
				  errno)
		       : 0;
}

int memory_read(const struct stopped *self, uint64_t address, void *into, size_t size)
{
	ssize_t r = pread(self->memory, into, size, (off_t)address);

	return r == (ssize_t)size ? 0 : r < 0 ? -errno : -EFAULT;
}

int memory_write(const struct stopped *self, uint64_t address, const void *bytes, size_t size)
{
	ssize_t r = pwrite(self->memory, bytes, size, (off_t)address);

	return r == (ssize_t)size ? 0 : r < 0 ? -errno : -EFAULT;
}

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
bool thread_is_other_runnable(const struct job *job, int tid)
{
	char text[STAT_MAX];
	const char *at = find_field(job, tid, STATE_FIELD, text);

	return tid != job->tid && at && (at[1] == 'R' || at[1] == 'D');
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

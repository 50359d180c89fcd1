/*
 * The job's answer, and reads of the thread's files in /proc.
 */
#include "injector/injector.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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

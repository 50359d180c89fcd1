/*
 * The target's memory, through a descriptor opened before the stop: if the target executes another
 * program, the descriptor still belongs to the old one, and no write can reach the new image.
 */
#include "injector/injector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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

/*
 * Raises the limit of descriptors, and writes to one.
 */
#include "host/core/descriptors.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

void descriptors_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int descriptor_write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		at += written;
		size -= (size_t)written;
	}
	return 0;
}

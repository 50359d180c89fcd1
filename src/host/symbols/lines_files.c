/*
 * What libdw calls instead of open(): debug information names further files (.gnu_debugaltlink, and
 * DW_AT_dwo_name of split units), and whoever wrote it may have named a device.  Host only.
 */
#include "host/process/foreign_file.h"

#include <errno.h>

int libdw_open(const char *path, int flags, ...);
int libdw_open64(const char *path, int flags, ...) __attribute__((alias("libdw_open")));

int libdw_open(const char *path, int flags, ...)
{
	int fd = foreign_file_open(/* pid */ 0, path);

	(void)flags;
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

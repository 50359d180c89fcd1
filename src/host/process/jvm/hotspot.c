/*
 * Searches for a name in a library's file; the process is not touched.
 */
#include "host/process/jvm/hotspot.h"

#include "host/core/cleanup.h"
#include "host/process/foreign_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK    (1u << 20)
#define READ_MAX (1u << 30)

/* HotSpot describes itself to debuggers by this, in every version. */
static const char exported[] = "gHotSpotVMStructs";

/* `pid`: the process in whose root the name is opened; 0: limpet's. */
static int open_if_mapped(pid_t pid, const struct mapping *library)
{
	int fd = foreign_file_open(pid, library->path);
	struct stat file;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &file) && file.st_ino == library->inode)
		return fd;
	close(fd);
	return -ENOENT;
}

static int open_library(pid_t pid, const struct mapping *library)
{
	int fd = open_if_mapped(pid, library);

	return fd < 0 ? open_if_mapped(/* pid */ 0, library) : fd;
}

/* The end of each block is searched again with the next one. */
static bool has_text(int fd, char *block, const char *text, size_t size)
{
	off_t at = 0;
	ssize_t got;

	while (at < READ_MAX && (got = pread(fd, block, BLOCK, at)) >= (ssize_t)size) {
		if (memmem(block, (size_t)got, text, size))
			return true;
		at += got - (ssize_t)size + 1;
	}
	return false;
}

int hotspot_check(pid_t pid, const struct mapping *library, bool *ret)
{
	CLEANUP(free) char *block = malloc(BLOCK);
	int fd = block ? open_library(pid, library) : -ENOMEM;

	if (fd < 0)
		return fd;
	*ret = has_text(fd, block, exported, sizeof(exported));
	close(fd);
	return 0;
}

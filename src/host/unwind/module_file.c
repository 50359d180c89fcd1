/*
 * Opens the file that a process has mapped, and no other one of the same name.  Host only.  The
 * name is foreign: nothing but a regular file is ever opened, so no device or pipe notices us.
 */
#include "host/unwind/module_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/core/cleanup.h"

#define DELETED " (deleted)"

static bool is_mapped_file(const struct stat *facts, const struct mapping *mapping)
{
	return S_ISREG(facts->st_mode) && facts->st_ino == mapping->inode;
}

static bool is_same_device(const struct stat *facts, const struct mapping *mapping)
{
	return major(facts->st_dev) == mapping->dev_major &&
	       minor(facts->st_dev) == mapping->dev_minor;
}

/* -ENOENT when it is not the file that is mapped. */
static int open_if_mapped(const char *path, const struct mapping *mapping, struct stat *ret)
{
	CLEANUP(close) int place = open(path, O_PATH | O_CLOEXEC);
	char again[64];
	int fd;

	if (place < 0 || fstat(place, ret) < 0 || !is_mapped_file(ret, mapping))
		return -ENOENT;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void take(struct module_file *file, int fd, const struct stat *facts)
{
	file->fd = fd;
	file->size = (uint64_t)facts->st_size;
	file->changed_ns =
		(uint64_t)facts->st_mtim.tv_sec * 1000000000u + (uint64_t)facts->st_mtim.tv_nsec;
}

enum way {
	WAY_PLAIN,     /* its own name, on the same device */
	WAY_UNCERTAIN, /* its own name; file systems may show another device in maps */
	WAY_PROCESS,   /* through the process: gone when that ends, so the descriptor is kept */
};

static bool try_path(struct module_file *file, const char *path, const struct mapping *mapping,
		     enum way way)
{
	struct stat facts;
	int fd = open_if_mapped(path, mapping, &facts);

	if (fd < 0)
		return false;
	if (way == WAY_PLAIN && !is_same_device(&facts, mapping)) {
		close(fd);
		return false;
	}
	take(file, fd, &facts);
	file->is_kept = way == WAY_PROCESS;
	if (file->is_kept)
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", fd);
	else
		snprintf(file->path, sizeof(file->path), "%s", path);
	return true;
}

static bool cut_deleted(char *path)
{
	size_t size = strlen(path), suffix = strlen(DELETED);

	if (size <= suffix || strcmp(path + size - suffix, DELETED) != 0)
		return false;
	path[size - suffix] = '\0';
	return true;
}

void module_file_open(struct module_file *ret, pid_t pid, const struct mapping *mapping)
{
	char name[sizeof(mapping->path)], path[MODULE_PATH_MAX];

	*ret = (struct module_file){ .fd = -1 };
	snprintf(name, sizeof(name), "%s", mapping->path);
	ret->is_deleted = cut_deleted(name);
	if (name[0] != '/')
		return;
	if (!ret->is_deleted && try_path(ret, name, mapping, WAY_PLAIN))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	if (!ret->is_deleted && try_path(ret, path, mapping, WAY_PROCESS))
		return;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	if (try_path(ret, path, mapping, WAY_PROCESS) ||
	    (!ret->is_deleted && try_path(ret, name, mapping, WAY_UNCERTAIN)))
		return;
	ret->is_deleted = true;
}

/*
 * Opens the file that a process has mapped, and no other one of the same name.  The name is
 * foreign.
 */
#include "host/unwind/module_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/process/foreign_file.h"

#define DELETED " (deleted)"

enum way {
	WAY_PLAIN,     /* its own name in limpet's root, on the same device */
	WAY_UNCERTAIN, /* the same; file systems may show another device in maps */
	/* Through the process: invalid when that ends, so the descriptor is kept. */
	WAY_ROOT,
	WAY_MAPPED,
};

static bool try_way(struct module_file *file, enum way way, pid_t pid, const char *name,
		    const struct mapping *mapping)
{
	int fd = way == WAY_MAPPED ? foreign_file_open_mapped(pid, mapping->start, mapping->end)
				   : foreign_file_open(way == WAY_ROOT ? pid : 0, name);
	struct stat facts;

	if (fd < 0)
		return false;
	if (fstat(fd, &facts) || facts.st_ino != mapping->inode ||
	    (way == WAY_PLAIN && (major(facts.st_dev) != mapping->dev_major ||
				  minor(facts.st_dev) != mapping->dev_minor))) {
		close(fd);
		return false;
	}
	file->fd = fd;
	file->size = (uint64_t)facts.st_size;
	file->changed_ns =
		(uint64_t)facts.st_mtim.tv_sec * 1000000000u + (uint64_t)facts.st_mtim.tv_nsec;
	file->is_kept = way == WAY_ROOT || way == WAY_MAPPED;
	if (file->is_kept)
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", fd);
	else
		snprintf(file->path, sizeof(file->path), "%s", name);
	return true;
}

bool module_path_cut_deleted(char *path)
{
	size_t size = strlen(path), suffix = strlen(DELETED);

	if (size <= suffix || strcmp(path + size - suffix, DELETED) != 0)
		return false;
	path[size - suffix] = '\0';
	return true;
}

void module_file_open(struct module_file *ret, pid_t pid, const struct mapping *mapping)
{
	char name[sizeof(mapping->path)];

	*ret = (struct module_file){ .fd = -1 };
	snprintf(name, sizeof(name), "%s", mapping->path);
	ret->is_deleted = module_path_cut_deleted(name);
	if (name[0] != '/')
		return;
	if (!ret->is_deleted && (try_way(ret, WAY_PLAIN, pid, name, mapping) ||
				 try_way(ret, WAY_ROOT, pid, name, mapping)))
		return;
	if (try_way(ret, WAY_MAPPED, pid, name, mapping) ||
	    (!ret->is_deleted && try_way(ret, WAY_UNCERTAIN, pid, name, mapping)))
		return;
	ret->is_deleted = true;
}

/*
 * The file behind a module, for its full symbol table: glibc before 2.34 keeps what debuggers need
 * only there. Host only.
 */
#include "host/attach/modules.h"
#include "host/core/cleanup.h"
#include "shared/elf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool is_same_file(int fd, const struct mapping *mapping)
{
	struct stat found;

	return !fstat(fd, &found) && found.st_ino == mapping->inode &&
	       major(found.st_dev) == mapping->dev_major &&
	       minor(found.st_dev) == mapping->dev_minor;
}

/* In a chroot the kernel shows paths as we see them; in another mount namespace as the target does.
 */
static int open_file(const struct target *target, const struct mapping *mapping)
{
	char path[512];
	int fd, pid = target->process.memory_tid;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, mapping->start,
		 mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, mapping->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && is_same_file(fd, mapping))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

int module_file_symbol(const struct target *target, const struct module *module, const char *name,
		       uint64_t *ret)
{
	CLEANUP(close) int fd = open_file(target, module->mapping);
	struct stat info;
	size_t size;
	void *bytes;
	int r;

	if (fd < 0 || fstat(fd, &info) || info.st_size <= 0)
		return -ENOENT;
	size = (size_t)info.st_size;
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	r = elf_file_symbol(bytes, size, name, ret);
	munmap(bytes, size);
	if (!r)
		*ret += module->image.bias;
	return r;
}

/*
 * The file behind a module, for its full symbol table: glibc before 2.34 keeps what debuggers need only there.
 * Host only; the file is foreign, every table is bounded by the file's size.
 */
#include "host/attach/modules.h"
#include "host/core/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct file_view {
	const unsigned char *bytes;
	size_t size;
};

static bool is_same_file(int fd, const struct mapping *mapping)
{
	struct stat found;

	return !fstat(fd, &found) && found.st_ino == mapping->inode &&
	       major(found.st_dev) == mapping->dev_major && minor(found.st_dev) == mapping->dev_minor;
}

/* In a chroot the kernel shows paths as we see them; in another mount namespace as the target does. */
static int open_file(const struct target *target, const struct mapping *mapping)
{
	char path[512];
	int fd, pid = target->process.memory_tid;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, mapping->start, mapping->end);
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

static const void *view_at(const struct file_view *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

static int find_in_table(const struct file_view *file, const Elf64_Shdr *table, const Elf64_Shdr *names,
                         const char *name, uint64_t *ret)
{
	const Elf64_Sym *symbols = view_at(file, table->sh_offset, table->sh_size);
	const char *texts = view_at(file, names->sh_offset, names->sh_size);
	size_t length = strlen(name) + 1;

	if (!symbols || !texts)
		return -ENOENT;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names->sh_size ||
		    length > names->sh_size - symbols[i].st_name)
			continue;
		if (!memcmp(texts + symbols[i].st_name, name, length)) {
			*ret = symbols[i].st_value;
			return 0;
		}
	}
	return -ENOENT;
}

static int find_symbol(const struct file_view *file, const char *name, uint64_t *ret)
{
	const Elf64_Ehdr *header = view_at(file, 0, sizeof(*header));
	const Elf64_Shdr *sections;

	if (!header || header->e_shentsize != sizeof(*sections))
		return -ENOENT;
	sections = view_at(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections));
	for (unsigned i = 0; sections && i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
			return find_in_table(file, &sections[i], &sections[sections[i].sh_link], name, ret);
	return -ENOENT;
}

int module_file_symbol(const struct target *target, const struct module *module, const char *name, uint64_t *ret)
{
	CLEANUP(close) int fd = open_file(target, module->mapping);
	struct file_view file;
	struct stat info;
	void *bytes;
	int r;

	if (fd < 0 || fstat(fd, &info) || info.st_size <= 0)
		return -ENOENT;
	file.size = (size_t)info.st_size;
	bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	file.bytes = bytes;
	r = find_symbol(&file, name, ret);
	munmap(bytes, file.size);
	if (!r)
		*ret += module->image.bias;
	return r;
}

/*
 * The file behind a module, for its full symbol table: glibc before 2.34 has the descriptions for
 * debuggers only there.
 */
#include "host/unwind/module_file.h"
#include "host/attach/facts/modules.h"
#include "host/core/cleanup.h"
#include "shared/elf/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* An unstripped libc has a few MiB. */
#define LIBRARY_MAX (64u << 20)

/* Read, not mapped: a file truncated meanwhile would end limpet by SIGBUS. */
static int read_whole(int fd, void *into, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = pread(fd, (char *)into + at, size - at, (off_t)at);

		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		at += (size_t)n;
	}
	return 0;
}

int module_file_symbol(const struct target *target, const struct module *module, const char *name,
		       uint64_t *ret)
{
	CLEANUP(free) void *bytes = NULL;
	struct module_file file;
	int r;

	module_file_open(&file, target->process.memory_tid, module->mapping);
	if (file.fd < 0)
		return -ENOENT;
	if (!file.size || file.size > LIBRARY_MAX)
		r = -ENOENT;
	else
		r = (bytes = malloc(file.size)) ? read_whole(file.fd, bytes, file.size) : -ENOMEM;
	close(file.fd);
	if (!r)
		r = elf_file_symbol(bytes, file.size, name, ret);
	if (!r)
		*ret += module->image.bias;
	return r;
}

/*
 * Searches each ELF object that is mapped from its beginning.  Runs on nodes and at home; what is
 * read is foreign.
 */
#include "host/fleet/find/mapped_symbol.h"

#include "host/core/cleanup.h"
#include "host/process/maps.h"
#include "shared/elf/image.h"

#include <errno.h>

static int memory_reader_read(void *context, uint64_t address, void *into, size_t size)
{
	return memory_read(*(const int *)context, address, into, size) ? 0 : -EFAULT;
}

static bool is_object(const struct mapping *mapping)
{
	return mapping->path[0] == '/' && mapping->offset == 0 && mapping->readable;
}

int mapped_symbol_find(pid_t pid, int memory, const char *name, uint64_t *ret)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	const struct memory_reader reader = { memory_reader_read, &memory };
	struct err ignored = { 0 };
	int r = maps_read(pid, &maps, &ignored);

	for (size_t i = 0; !r && i < maps.count; i++) {
		struct elf_image image;

		if (is_object(&maps.items[i]) &&
		    !elf_image_open(&image, &reader, maps.items[i].start) &&
		    !elf_image_symbol(&image, name, ret))
			return 0;
	}
	return r ? r : -ENOENT;
}

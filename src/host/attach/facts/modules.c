/*
 * Walks the loader's list of objects (r_debug) in the target's memory.  Every pointer is foreign,
 * the walk is bounded.
 */
#include "host/attach/facts/modules.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/process/memory.h"
#include "host/unwind/module_file.h"
#include "shared/elf/file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MODULES_MAX 4096
#define LOOKS       5
#define LIBRARY_MAX (64u << 20) /* an unstripped libc has a few MiB */

/* The public parts of the loader's structures, as debuggers use them. */
struct debug_head {
	int version, padding;
	uint64_t map;
};

struct debug_map {
	uint64_t address, name, dynamic, next, previous;
};

/* The first page of the file to which an address inside it belongs. */
static const struct mapping *first_page(const struct maps *maps, uint64_t inside)
{
	const struct mapping *hit = maps_at(maps, inside);
	const struct mapping *first = hit;

	for (const struct mapping *at = hit; at && at >= maps->items; at--) {
		bool same_file = at->inode == hit->inode && at->dev_major == hit->dev_major &&
				 at->dev_minor == hit->dev_minor;

		if (same_file && at->inode && at->offset == 0)
			return at;
		if (same_file)
			first = at;
	}
	return first;
}

static int add_module(const struct target *target, struct modules *list, uint64_t link_map,
		      const struct debug_map *map)
{
	const struct mapping *mapping = first_page(&target->process.maps, map->dynamic);
	struct module *grown;

	if (!mapping)
		return 0;
	grown = realloc(list->items, (list->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->items = grown;
	if (elf_image_open(&grown[list->count].image, &target->reader, mapping->start))
		return 0; /* the vdso, or just unmapped */
	grown[list->count].link_map = link_map;
	grown[list->count].mapping = mapping;
	list->count++;
	return 0;
}

static int find_head(const struct target *target, struct debug_head *ret)
{
	uint64_t phdr = auxv_value(&target->process.identity.auxv, AT_PHDR);
	const struct mapping *mapping = first_page(&target->process.maps, phdr);
	struct elf_image program;

	if (!mapping || elf_image_open(&program, &target->reader, mapping->start) || !program.debug)
		return -ENOENT;
	return memory_read(target->memory, program.debug, ret, sizeof(*ret)) ? 0 : -EFAULT;
}

int modules_refuse(struct err *err)
{
	err_set(err, -EAGAIN, "the program is still being started");
	err_why(err, "its dynamic loader has not finished loading libraries");
	err_fix(err, "try again in a moment");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

int modules_read(const struct target *target, struct modules *ret, struct err *err)
{
	struct debug_head head = { 0 };
	struct debug_map map = { 0 };
	unsigned steps = 0; /* entries that are no module count, too: the list may be a loop */
	int r = find_head(target, &head);

	memset(ret, 0, sizeof(*ret));
	for (uint64_t at = head.map; !r && at && steps < MODULES_MAX; at = map.next, steps++) {
		r = memory_read(target->memory, at, &map, sizeof(map))
			    ? add_module(target, ret, at, &map)
			    : -EFAULT;
	}
	if (!r && ret->count)
		return 0;
	modules_done(ret);
	return modules_refuse(err);
}

int modules_read_fresh(struct target *target, struct modules *ret, struct err *err)
{
	struct process *process = &target->process;
	int r = -EAGAIN;

	for (unsigned i = 0; r == -EAGAIN && i < LOOKS; i++) {
		struct maps fresh;

		r = modules_read(target, ret, err);
		if (r != -EAGAIN || maps_read(process->memory_tid, &fresh, err))
			break;
		maps_done(&process->maps);
		process->maps = fresh;
	}
	return r;
}

void modules_done(struct modules *modules)
{
	free(modules->items);
	memset(modules, 0, sizeof(*modules));
}

const struct module *modules_at(const struct modules *modules, uint64_t base)
{
	for (size_t i = 0; i < modules->count; i++)
		if (modules->items[i].image.base == base)
			return &modules->items[i];
	return NULL;
}

const struct module *modules_named(const struct modules *modules, const char *prefix)
{
	for (size_t i = 0; i < modules->count; i++) {
		const char *name = path_base_name(modules->items[i].mapping->path);

		if (!strncmp(name, prefix, strlen(prefix)))
			return &modules->items[i];
	}
	return NULL;
}

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
	int r = -ENOENT;

	module_file_open(&file, target->process.memory_tid, module->mapping);
	if (file.fd < 0)
		return r;
	if (file.size && file.size <= LIBRARY_MAX)
		r = (bytes = malloc(file.size)) ? read_whole(file.fd, bytes, file.size) : -ENOMEM;
	close(file.fd);
	if (!r)
		r = elf_file_symbol(bytes, file.size, name, ret);
	if (!r)
		*ret += module->image.bias;
	return r;
}

/*
 * Finds, opens and compiles modules, each once.  The list only grows, so that pointers to modules
 * stay valid; a lock guards it, since all sessions of a program share it.
 */
#include "host/unwind/modules.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/notes.h"
#include "host/core/pool.h"
#include "host/core/room.h"
#include "host/process/memory.h"
#include "host/unwind/module_file.h"
#include "host/unwind/tables/cache.h"
#include "host/unwind/tables/image.h"
#include "host/unwind/tables/source.h"

#define VDSO_SIZE_MAX ((size_t)64 << 10)

struct known {
	struct module module; /* first: what others point to */
	uint64_t size, changed_ns;
	struct object object; /* headers only: its bytes are freed */
	uint64_t source;      /* fingerprint of its table's input */
	int kept_fd;          /* of module_file_open(); -1: none */
	uint64_t used;        /* when last used; a counter */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known **known;
static size_t known_count, known_room;
static size_t count_max = SIZE_MAX, table_bytes_max = SIZE_MAX; /* see modules_bound() */
static size_t table_bytes, kept_files, kept_max = SIZE_MAX;
static uint64_t uses;
static struct pool kept_paths; /* "/proc/self/fd/N": as many as there were numbers */

void modules_bound(size_t count, size_t bytes, size_t descriptors)
{
	pthread_mutex_lock(&lock);
	count_max = count;
	table_bytes_max = bytes;
	kept_max = descriptors;
	pthread_mutex_unlock(&lock);
}

/* A missing part must not be read: it would be zeroes without end. */
static int refuse_cut(const struct module *module, struct err *err)
{
	err_set(err, -EFBIG, "a section has more than %u MiB, or more than the file has on disk",
		(unsigned)(IMAGE_PART_MAX >> 20));
	note_add("unwind information of %s is not read: %s", module->path, err->what);
	return -EFBIG;
}

/* The table of a file known under another name or inode: memory files such as the agent are new in
 * each process. */
static const struct unwind_table *find_table(const struct module *module, uint64_t source)
{
	for (size_t i = 0; module->build_id_size && i < known_count; i++) {
		const struct module *other = &known[i]->module;

		if (other->table && known[i]->source == source &&
		    other->build_id_size == module->build_id_size &&
		    !memcmp(other->build_id, module->build_id, module->build_id_size))
			return other->table;
	}
	return NULL;
}

/* Makes it and stores it in the cache: the kernel can drop mapped pages of a file, unlike those of
 * the heap.  `fd`: its file, whose code is read now; -1: read already. */
static struct unwind_table *compile_table(const struct module *module,
					  const struct unwind_source *source, uint64_t number,
					  struct image *image, int fd, struct err *err)
{
	struct unwind_table *made = NULL, *mapped;

	if (fd >= 0)
		image_load_code(image, fd);
	if (image->is_cut ? refuse_cut(module, err) : unwind_table_make(&made, source, err))
		return NULL;
	unwind_cache_store(module->build_id, module->build_id_size, number, made);
	mapped = unwind_cache_load(module->build_id, module->build_id_size, number);
	if (!mapped)
		return made;
	unwind_table_free(made);
	return mapped;
}

/* From the cache, or newly made. */
static struct unwind_table *new_table(const struct module *module,
				      const struct unwind_source *source, uint64_t number,
				      struct image *image, int fd, struct err *err)
{
	struct unwind_table *table =
		unwind_cache_load(module->build_id, module->build_id_size, number);

	if (!table)
		table = compile_table(module, source, number, image, fd, err);
	if (table)
		table_bytes += table->row_count * sizeof(*table->rows) +
			       table->page_count * sizeof(*table->pages);
	return table;
}

static void make_table(struct known *entry, struct image *image, int fd)
{
	struct module *module = &entry->module;
	struct unwind_source source;
	const struct unwind_table *table = NULL;
	struct err err = { 0 };

	if (table_bytes >= table_bytes_max) {
		err_set(&err, -ENOSPC, "the memory for tables is used up");
	} else if (image->is_cut) {
		refuse_cut(module, &err);
	} else if (!unwind_source_open(&source, image->bytes, image->size, &err)) {
		entry->source = unwind_source_fingerprint(&source);
		table = find_table(module, entry->source);
		if (!table)
			table = new_table(module, &source, entry->source, image, fd, &err);
		unwind_source_close(&source);
	}
	module->table = table;
	if (!module->table)
		snprintf(module->complaint, sizeof(module->complaint), "%s", err.what);
}

static void read_image(struct known *entry, struct image *image, int fd)
{
	struct module *module = &entry->module;

	if (object_open(&entry->object, image->bytes, image->size) < 0) {
		snprintf(module->complaint, sizeof(module->complaint),
			 "not an ELF file of 64 bits");
		return;
	}
	module->is_object = true;
	module->build_id_size =
		object_build_id(&entry->object, module->build_id, sizeof(module->build_id));
	make_table(entry, image, fd);
	entry->object.bytes = NULL;
	entry->object.size = 0;
}

/* The mapping with the ELF header of the mapped file, if there is one. */
static const struct mapping *header_of(const struct maps *maps, const struct mapping *mapping)
{
	const struct mapping *found = NULL;

	for (size_t i = 0; i < maps->count && maps->items[i].start <= mapping->start; i++)
		if (maps->items[i].inode == mapping->inode && maps->items[i].offset == 0 &&
		    !strcmp(maps->items[i].path, mapping->path))
			found = &maps->items[i];
	return found;
}

/* From its file where that can be opened, else from the process's memory. */
static void read_file(struct known *entry, pid_t pid, const struct maps *maps,
		      const struct mapping *mapping, int fd)
{
	const struct memory_reader memory = { memory_read_process, &pid };
	const struct mapping *header = fd < 0 ? header_of(maps, mapping) : NULL;
	CLEANUP(image_done) struct image image = { 0 };
	struct module *module = &entry->module;
	int r = -ENOENT;

	if (fd >= 0)
		r = image_load_file(&image, fd);
	else if (header)
		r = image_load_memory(&image, &memory, header->start);
	if (!r)
		read_image(entry, &image, fd);
	else if (fd >= 0)
		snprintf(module->complaint, sizeof(module->complaint), "%s",
			 r == -ENOEXEC ? "not an ELF file of 64 bits" : strerror(-r));
	else
		snprintf(module->complaint, sizeof(module->complaint),
			 "its file cannot be opened, nor its memory read: %s", strerror(-r));
}

/* Lets others open bytes that are in no file. */
static char *keep_copy(const char *name, const void *bytes, size_t size)
{
	char *path = NULL;
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (descriptor_write(fd, bytes, size) || asprintf(&path, "/proc/self/fd/%d", fd) < 0) {
		close(fd);
		return NULL;
	}
	return path;
}

/* All processes have the same vdso; limpet's own serves where memory may not be read. */
static void read_vdso(struct known *entry, pid_t pid, const struct mapping *mapping)
{
	size_t size = MIN(mapping->end - mapping->start, VDSO_SIZE_MAX);
	const void *own = (const void *)getauxval(AT_SYSINFO_EHDR);
	CLEANUP(free) void *bytes = calloc(1, size);

	if (!bytes)
		return;
	if (memory_read_process(&pid, mapping->start, bytes, size) < 0) {
		if (!own)
			return;
		memcpy(bytes, own, size);
	}
	read_image(entry, &(struct image){ .bytes = bytes, .size = size }, /* fd */ -1);
	entry->module.image_path = keep_copy("vdso", bytes, size);
}

static enum module_kind kind_of(const struct mapping *mapping)
{
	if (!strcmp(mapping->path, "[vdso]"))
		return MODULE_VDSO;
	return mapping->inode && mapping->path[0] == '/' ? MODULE_FILE : MODULE_ANONYMOUS;
}

static bool is_it(const struct known *entry, const struct mapping *mapping,
		  const struct module_file *file)
{
	const struct module *module = &entry->module;

	if (module->kind != kind_of(mapping))
		return false;
	if (module->kind == MODULE_VDSO)
		return true;
	if (module->kind == MODULE_ANONYMOUS)
		return !strcmp(module->path, mapping->path);
	return module->inode == mapping->inode &&
	       module->dev == makedev(mapping->dev_major, mapping->dev_minor) &&
	       entry->size == file->size && entry->changed_ns == file->changed_ns;
}

static struct known *find_known(const struct mapping *mapping, const struct module_file *file)
{
	for (size_t i = 0; i < known_count; i++)
		if (is_it(known[i], mapping, file))
			return known[i];
	return NULL;
}

static int add_known(struct known **ret, const struct mapping *mapping,
		     const struct module_file *file)
{
	struct known *entry = calloc(1, sizeof(*entry));
	char *path = strdup(mapping->path);

	if (!entry || !path ||
	    make_room(&known, known_count, &known_room, sizeof(struct known *)) < 0) {
		free(entry);
		free(path);
		return -ENOMEM;
	}
	module_path_cut_deleted(path);
	*entry = (struct known){
		.module = {
			.kind = kind_of(mapping),
			.number = (unsigned)known_count,
			.path = path,
			.dev = makedev(mapping->dev_major, mapping->dev_minor),
			.inode = mapping->inode,
			.is_deleted = file->is_deleted,
			.image_path =
				file->path[0] && !file->is_kept ? strdup(file->path) : NULL,
		},
		.kept_fd = -1,
		.size = file->size,
		.changed_ns = file->changed_ns,
	};
	known[known_count++] = entry;
	*ret = entry;
	return 0;
}

static struct known *oldest_kept(void)
{
	struct known *oldest = NULL;

	for (size_t i = 0; i < known_count; i++)
		if (known[i]->kept_fd >= 0 && (!oldest || known[i]->used < oldest->used))
			oldest = known[i];
	return oldest;
}

/* Limits open descriptors: closes the least recently used file; what is read of it later stays
 * without names until a process with it is found again. */
static void keep_file(struct known *entry, struct module_file *file)
{
	struct rlimit limit = { .rlim_cur = 0 };
	const char *path = pool_keep(&kept_paths, file->path);
	struct known *oldest;

	getrlimit(RLIMIT_NOFILE, &limit);
	/* Its path stays in the pool: another thread may be reading it. */
	while (kept_files >= MIN(kept_max, limit.rlim_cur / 2) && (oldest = oldest_kept())) {
		oldest->module.image_path = NULL;
		close(TAKE_FD(oldest->kept_fd));
		kept_files--;
	}
	file->is_kept = path && kept_files < limit.rlim_cur / 2;
	if (!file->is_kept)
		return;
	entry->module.image_path = path;
	entry->kept_fd = file->fd;
	kept_files++;
}

static int add_new(struct known **ret, pid_t pid, const struct maps *maps,
		   const struct mapping *mapping, const struct module_file *file)
{
	int r = add_known(ret, mapping, file);

	if (!r) {
		/* Memory without a file has no tables: JIT code. */
		if ((*ret)->module.kind == MODULE_VDSO)
			read_vdso(*ret, pid, mapping);
		else if ((*ret)->module.kind == MODULE_FILE)
			read_file(*ret, pid, maps, mapping, file->fd);
		else
			snprintf((*ret)->module.complaint, sizeof((*ret)->module.complaint),
				 "code that is in no file");
	}
	return r;
}

static int find_or_add(struct known **ret, pid_t pid, const struct maps *maps,
		       const struct mapping *mapping)
{
	static const struct mapping nameless;
	struct module_file file = { .fd = -1 }, none = { .fd = -1 };
	int r = 0;

	if (kind_of(mapping) == MODULE_FILE)
		module_file_open(&file, pid, mapping);
	*ret = find_known(mapping, &file);
	if (!*ret && known_count < count_max)
		r = add_new(ret, pid, maps, mapping, &file);
	if (*ret)
		(*ret)->used = ++uses;
	/* The entry owns the descriptor, or it is closed. */
	/* A memory (&file) that a runtime filled has no symbols in its bytes. */
	bool is_wanted = (r < 0 ? NULL : *ret) && file.is_kept &&
			 (r < 0 ? NULL : *ret)->kept_fd < 0 &&
			 strncmp(mapping->path, "/memfd:", strlen("/memfd:")) != 0;

	file.is_kept = false;
	if (is_wanted)
		keep_file(r < 0 ? NULL : *ret, &file);
	if (file.fd >= 0 && !file.is_kept)
		close(file.fd);
	if (!*ret && !r)
		*ret = find_known(&nameless, &none);
	return *ret || r ? r : add_new(ret, pid, maps, &nameless, &none);
}

int module_of(struct module_place *ret, pid_t pid, const struct maps *maps,
	      const struct mapping *mapping)
{
	struct known *entry = NULL;
	uint64_t address;
	int r;

	pthread_mutex_lock(&lock);
	r = find_or_add(&entry, pid, maps, mapping);
	pthread_mutex_unlock(&lock);
	if (r < 0)
		return r;
	if (!object_address_of(&entry->object, mapping->offset, &address))
		address = mapping->offset;
	*ret = (struct module_place){ &entry->module, entry->module.kind == MODULE_ANONYMOUS
							      ? 0
							      : mapping->start - address };
	return 0;
}

size_t modules_count(void)
{
	size_t count;

	pthread_mutex_lock(&lock);
	count = known_count;
	pthread_mutex_unlock(&lock);
	return count;
}

const struct module *module_at(size_t number)
{
	const struct module *module = NULL;

	pthread_mutex_lock(&lock);
	if (number < known_count)
		module = &known[number]->module;
	pthread_mutex_unlock(&lock);
	return module;
}

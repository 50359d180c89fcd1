/*
 * One module: the file itself, the small file in it, and the one beside it.
 */
#include "host/symbols/symbol_file.h"

#include "host/symbols/elf/debug_file.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/symbols/go_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define VDSO_MAX     (64u << 10)
#define BUILD_ID_MAX 64u

enum source { SOURCE_IMAGE, SOURCE_DEBUGDATA, SOURCE_DEBUG_FILE, SOURCES };

struct symbol_file {
	struct symbol_origin origin; /* with texts of its own; path NULL: it is the vdso */
	unsigned char build_id[BUILD_ID_MAX];
	struct stat identity; /* by which the file is known again; zero: there is none */
	bool has_image;       /* when it was opened first */
	bool is_open;
	struct elf_source sources[SOURCES];
	struct symbol_table named, starts, called;
	struct lines *lines;
	struct go_names go;
	bool has_go;
	bool is_read, has_read_code, has_looked_for_lines;
	size_t bytes;
};

/* Set once at the start of the program. */
static const struct line_reader *line_reader;

void symbol_file_read_lines_by(const struct line_reader *reader)
{
	line_reader = reader;
}

/* The same; NULL: no requests to servers. */
static struct debuginfod *debug_server;

void symbol_file_use_server(struct debuginfod *debuginfod)
{
	debug_server = debuginfod;
}

static int keep_if_it_is(struct elf_source *image, const struct symbol_origin *origin)
{
	if (!origin->build_id_size ||
	    elf_has_build_id(image->elf, origin->build_id, origin->build_id_size))
		return 0;
	elf_source_close(image);
	return -ESTALE;
}

static int open_image(struct symbol_file *self, const struct symbol_origin *origin)
{
	struct elf_source *image = &self->sources[SOURCE_IMAGE];
	int r = origin->image_path ? elf_source_open_again(image, origin->image_path, origin->path)
				   : -ENOENT;

	if (!r)
		r = keep_if_it_is(image, origin);
	if (!r || origin->path[0] != '/')
		return r;
	r = elf_source_open(image, origin->pid, origin->path);
	return r ? r : keep_if_it_is(image, origin);
}

static struct stat identity_read(const struct elf_source *image)
{
	struct stat facts;

	return image->fd <= 0 || fstat(image->fd, &facts) < 0 ? (struct stat){ 0 } : facts;
}

static bool identity_equals(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void open_sources(struct symbol_file *self)
{
	struct elf_source *sources = self->sources;

	self->is_open = true;
	if (open_image(self, &self->origin))
		return;
	if (debug_file_open(&sources[SOURCE_DEBUG_FILE], sources[SOURCE_IMAGE].elf,
			    self->origin.path, self->origin.pid))
		sources[SOURCE_DEBUG_FILE].elf = NULL;
}

/* Another file may have its name or its descriptor's number now. */
static void open_again(struct symbol_file *self)
{
	struct elf_source *image = &self->sources[SOURCE_IMAGE];
	struct stat found;

	open_sources(self);
	found = identity_read(image);
	if (!image->elf || identity_equals(&found, &self->identity))
		return;
	for (unsigned i = 0; i < SOURCES; i++)
		elf_source_close(&self->sources[i]);
}

static bool origin_copy(struct symbol_file *self, const struct symbol_origin *origin)
{
	self->origin = *origin;
	self->origin.path = strdup(origin->path);
	self->origin.image_path = origin->image_path ? strdup(origin->image_path) : NULL;
	self->origin.build_id = self->build_id;
	self->origin.build_id_size = MIN(origin->build_id_size, sizeof(self->build_id));
	if (self->origin.build_id_size)
		memcpy(self->build_id, origin->build_id, self->origin.build_id_size);
	return self->origin.path && (self->origin.image_path || !origin->image_path);
}

struct symbol_file *symbol_file_new(const struct symbol_origin *origin)
{
	struct symbol_file *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	if (!origin_copy(self, origin)) {
		symbol_file_free(self);
		return NULL;
	}
	open_sources(self);
	self->has_image = self->sources[SOURCE_IMAGE].elf;
	self->identity = identity_read(&self->sources[SOURCE_IMAGE]);
	return self;
}

struct symbol_file *symbol_file_vdso(void)
{
	struct symbol_file *self = calloc(1, sizeof(*self));
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	size_t size = head ? (size_t)head->e_shoff + (size_t)head->e_shnum * head->e_shentsize : 0;
	char *copy;

	if (self)
		self->is_open = true;
	if (!self || !size || size > VDSO_MAX || !(copy = malloc(size)))
		return self;
	memcpy(copy, head, size);
	if (elf_source_in(&self->sources[SOURCE_IMAGE], copy, size))
		self->sources[SOURCE_IMAGE].elf = NULL;
	return self;
}

static void close_sources(struct symbol_file *self)
{
	if (self->lines)
		line_reader->close(self->lines);
	self->lines = NULL;
	symbol_table_done(&self->named);
	symbol_table_done(&self->starts);
	symbol_table_done(&self->called);
	for (unsigned i = 0; i < SOURCES; i++)
		elf_source_close(&self->sources[i]);
	self->is_open = self->is_read = self->has_go = false;
	self->has_read_code = self->has_looked_for_lines = false;
	self->bytes = 0;
}

void symbol_file_free(struct symbol_file *file)
{
	if (!file)
		return;
	close_sources(file);
	free((char *)(uintptr_t)file->origin.path);
	free((char *)(uintptr_t)file->origin.image_path);
	free(file);
}

void symbol_file_close(struct symbol_file *file)
{
	if (file->origin.path)
		close_sources(file);
}

bool symbol_file_is_open(const struct symbol_file *file)
{
	return file->is_open && file->sources[SOURCE_IMAGE].elf;
}

size_t symbol_file_bytes(const struct symbol_file *file)
{
	return file->bytes;
}

/* Only a file with the build-id is used. */
static void request_debug_file(struct symbol_file *self, Elf *image)
{
	struct elf_source *debug = &self->sources[SOURCE_DEBUG_FILE];
	size_t size = 0;
	const unsigned char *build_id = elf_build_id(image, &size);
	char path[PATH_MAX];

	if (!debug_server || debug->elf || !build_id || elf_has_section(image, ".debug_info") ||
	    !debuginfod_find(debug_server, build_id, size, path, sizeof(path)) ||
	    elf_source_open(debug, /* pid */ 0, path))
		return;
	if (!elf_has_build_id(debug->elf, build_id, size))
		elf_source_close(debug);
}

/* Without memory there are no names. */
static void read_names(struct symbol_file *self)
{
	Elf *image = self->sources[SOURCE_IMAGE].elf;

	self->is_read = true;
	if (!image)
		return;
	self->has_go = go_names_open(&self->go, image);
	request_debug_file(self, image);
	if (debugdata_open(&self->sources[SOURCE_DEBUGDATA], image))
		self->sources[SOURCE_DEBUGDATA].elf = NULL;
	for (unsigned i = 0; i < SOURCES; i++)
		if (self->sources[i].elf)
			(void)!elf_symbols_add(self->sources[i].elf, &self->named);
	(void)!elf_plt_add(image, &self->named);
	(void)!elf_starts_add(image, &self->starts);
	symbol_table_finish(&self->named);
	symbol_table_finish(&self->starts);
	self->bytes = (self->named.room + self->starts.room) * sizeof(struct symbol);
	for (unsigned i = 0; i < SOURCES; i++)
		if (self->sources[i].elf)
			self->bytes +=
				elf_bytes(self->sources[i].elf,
					  ELF_BYTES_NAMES | (self->has_go ? ELF_BYTES_GO : 0));
}

/* One that had no image has none later. */
static void prepare_names(struct symbol_file *self)
{
	if (!self->is_open && self->has_image)
		open_again(self);
	if (!self->is_read)
		read_names(self);
}

static bool begins_behind(const struct symbol *begin, const struct symbol *other)
{
	return !other || begin->address >= (other->has_size ? other->end : other->address);
}

/* A function of which only the begin is known; code of other functions does not belong to it. */
static const struct symbol *find_called(struct symbol_file *self, uint64_t address)
{
	const struct elf_source *image = &self->sources[SOURCE_IMAGE];
	const struct symbol *begin;

	/* Only when there are neither names nor entries: this reads all code of the file. */
	if (!self->has_read_code) {
		self->has_read_code = true;
		if (image->elf)
			(void)!elf_calls_add(image, &self->called);
		symbol_table_finish(&self->called);
		self->bytes += self->called.room * sizeof(struct symbol);
	}
	begin = symbol_table_find(&self->called, address);
	return begin && begins_behind(begin, symbol_table_last(&self->named, address)) &&
			       begins_behind(begin, symbol_table_last(&self->starts, address))
		       ? begin
		       : NULL;
}

bool symbol_file_find(struct symbol_file *file, uint64_t address, const char **ret_name,
		      uint64_t *ret_start)
{
	const struct symbol *found, *start, *last;

	prepare_names(file);
	if (file->has_go && go_names_find(&file->go, address, ret_name, ret_start))
		return true;
	found = symbol_table_find(&file->named, address);
	start = symbol_table_find(&file->starts, address);
	last = symbol_table_last(&file->starts, address);
	/* A name without a size reaches up to the next name.  It ends where its own entry of
	 * .eh_frame ends or that of another function begins. */
	if (found && last && !found->has_size &&
	    (last->address > found->address ||
	     (last->address == found->address && address >= last->end)))
		found = NULL;
	if (!found)
		found = start ? start : find_called(file, address);
	if (!found)
		return false;
	*ret_name = found->name;
	*ret_start = found->address;
	return true;
}

static void open_lines(struct symbol_file *self)
{
	static const enum source order[] = { SOURCE_DEBUG_FILE, SOURCE_IMAGE };

	self->has_looked_for_lines = true;
	for (size_t i = 0; line_reader && !self->lines && i < ARRAY_SIZE(order); i++) {
		struct elf_source *source = &self->sources[order[i]];

		if (source->elf && source->has_lines)
			self->lines = line_reader->open(source->elf);
		if (self->lines)
			self->bytes += elf_bytes(source->elf, ELF_BYTES_DEBUG);
	}
}

size_t symbol_file_lines(struct symbol_file *file, uint64_t address, struct source_location *ret,
			 size_t room)
{
	size_t count = 0;

	prepare_names(file);
	if (!file->has_looked_for_lines)
		open_lines(file);
	if (file->lines)
		count = line_reader->find(file->lines, address, ret, room);
	if (!count && file->has_go)
		count = go_names_lines(&file->go, address, ret, room);
	return count;
}

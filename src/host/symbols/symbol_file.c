/*
 * One module: the file itself, the small file in it, and the one beside it.
 */
#include "host/symbols/symbol_file.h"

#include "host/symbols/debug_file.h"
#include "host/symbols/debugdata.h"
#include "host/symbols/elf/elf_source.h"
#include "host/symbols/elf/elf_symbols.h"
#include "host/symbols/go_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define VDSO_MAX (64u << 10)

enum source { SOURCE_IMAGE, SOURCE_DEBUGDATA, SOURCE_DEBUG_FILE, SOURCES };

struct symbol_file {
	struct elf_source sources[SOURCES];
	struct symbol_table named, starts;
	struct lines *lines;
	struct go_names go;
	bool has_go;
	bool is_read, has_looked_for_lines;
};

/* Set once at the start of the program. */
static const struct line_reader *line_reader;

void symbol_file_read_lines_by(const struct line_reader *reader)
{
	line_reader = reader;
}

/* The same; NULL: nobody is asked. */
static struct debuginfod *debug_server;

void symbol_file_ask(struct debuginfod *debuginfod)
{
	debug_server = debuginfod;
}

static bool is_the_one(const struct elf_source *source, const struct symbol_origin *origin)
{
	return !origin->build_id_size ||
	       elf_has_build_id(source->elf, origin->build_id, origin->build_id_size);
}

static int keep_if_it_is(struct elf_source *image, const struct symbol_origin *origin)
{
	if (is_the_one(image, origin))
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

struct symbol_file *symbol_file_new(const struct symbol_origin *origin)
{
	struct symbol_file *self = calloc(1, sizeof(*self));

	if (!self || open_image(self, origin))
		return self;
	if (debug_file_open(&self->sources[SOURCE_DEBUG_FILE], self->sources[SOURCE_IMAGE].elf,
			    origin->path, origin->pid))
		self->sources[SOURCE_DEBUG_FILE].elf = NULL;
	return self;
}

struct symbol_file *symbol_file_vdso(void)
{
	struct symbol_file *self = calloc(1, sizeof(*self));
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	size_t size = head ? (size_t)head->e_shoff + (size_t)head->e_shnum * head->e_shentsize : 0;
	char *copy;

	if (!self || !size || size > VDSO_MAX || !(copy = malloc(size)))
		return self;
	memcpy(copy, head, size);
	if (elf_source_in(&self->sources[SOURCE_IMAGE], copy, size))
		self->sources[SOURCE_IMAGE].elf = NULL;
	return self;
}

void symbol_file_free(struct symbol_file *file)
{
	if (!file)
		return;
	if (file->lines)
		line_reader->close(file->lines);
	symbol_table_done(&file->named);
	symbol_table_done(&file->starts);
	for (unsigned i = 0; i < SOURCES; i++)
		elf_source_close(&file->sources[i]);
	free(file);
}

/* Only what has the build-id is believed. */
static void ask_server(struct symbol_file *self, Elf *image)
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

/* What there is no memory for has no names. */
static void read_names(struct symbol_file *self)
{
	Elf *image = self->sources[SOURCE_IMAGE].elf;

	self->is_read = true;
	if (!image)
		return;
	self->has_go = go_names_open(&self->go, image);
	ask_server(self, image);
	if (debugdata_open(&self->sources[SOURCE_DEBUGDATA], image))
		self->sources[SOURCE_DEBUGDATA].elf = NULL;
	for (unsigned i = 0; i < SOURCES; i++)
		if (self->sources[i].elf)
			(void)!elf_symbols_add(self->sources[i].elf, &self->named);
	(void)!elf_plt_add(image, &self->named);
	(void)!elf_starts_add(image, &self->starts);
	symbol_table_finish(&self->named);
	symbol_table_finish(&self->starts);
}

/* A name without a size reaches up to the next name, over functions that lost theirs. */
static bool is_too_far(const struct symbol *named, const struct symbol *start)
{
	return named && start && !named->has_size && start->address > named->address;
}

bool symbol_file_find(struct symbol_file *file, uint64_t address, const char **ret_name,
		      uint64_t *ret_start)
{
	const struct symbol *named, *start;

	if (!file->is_read)
		read_names(file);
	if (file->has_go && go_names_find(&file->go, address, ret_name, ret_start))
		return true;
	named = symbol_table_find(&file->named, address);
	start = symbol_table_find(&file->starts, address);
	if (is_too_far(named, start))
		named = NULL;
	if (!named && !start)
		return false;
	*ret_name = named ? named->name : "";
	*ret_start = named ? named->address : start->address;
	return true;
}

static void find_lines(struct symbol_file *self)
{
	static const enum source order[] = { SOURCE_DEBUG_FILE, SOURCE_IMAGE };

	self->has_looked_for_lines = true;
	for (size_t i = 0; line_reader && !self->lines && i < ARRAY_SIZE(order); i++)
		if (self->sources[order[i]].elf && self->sources[order[i]].has_lines)
			self->lines = line_reader->open(self->sources[order[i]].elf);
}

size_t symbol_file_lines(struct symbol_file *file, uint64_t address, struct source_location *ret,
			 size_t room)
{
	size_t count = 0;

	if (!file->is_read)
		read_names(file);
	if (!file->has_looked_for_lines)
		find_lines(file);
	if (file->lines)
		count = line_reader->find(file->lines, address, ret, room);
	if (!count && file->has_go)
		count = go_names_lines(&file->go, address, ret, room);
	return count;
}

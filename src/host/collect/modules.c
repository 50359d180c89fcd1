/*
 * A target's mapped executable files with their build-ids.  The memory is foreign: sizes are
 * bounded, nothing is trusted.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/process/maps.h"
#include "host/process/memory.h"

#define SEGMENTS_MAX 32u
#define NOTES_MAX    4096u

/* Searches a segment of notes. */
static bool find_note(const unsigned char *notes, size_t size, struct recorded_module *ret)
{
	for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr head;
		size_t name, content;

		memcpy(&head, notes + at, sizeof(head));
		at += sizeof(head);
		name = ALIGN_UP((size_t)head.n_namesz, 4);
		content = ALIGN_UP((size_t)head.n_descsz, 4);
		if (name > size - at || content > size - at - name)
			return false;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4) && head.n_descsz <= BUILD_ID_MAX) {
			ret->build_id_size = head.n_descsz;
			memcpy(ret->build_id, notes + at + name, head.n_descsz);
			return true;
		}
		at += name + content;
	}
	return false;
}

static size_t read_segments(int memory, uint64_t base, Elf64_Phdr segments[SEGMENTS_MAX])
{
	Elf64_Ehdr header;
	size_t count;

	if (!memory_read(memory, base, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(*segments))
		return 0;
	count = MIN(header.e_phnum, SEGMENTS_MAX);
	return memory_read(memory, base + header.e_phoff, segments, count * sizeof(*segments))
		       ? count
		       : 0;
}

static void read_build_id(int memory, const Elf64_Phdr *segments, size_t count,
			  struct recorded_module *module)
{
	unsigned char notes[NOTES_MAX];

	for (size_t i = 0; i < count; i++) {
		size_t size = MIN(segments[i].p_filesz, sizeof(notes));

		/* Notes are in the first pages, with the beginning of the file. */
		if (segments[i].p_type == PT_NOTE &&
		    memory_read(memory, module->base + segments[i].p_offset, notes, size) &&
		    find_note(notes, size, module))
			return;
	}
}

/* .bss has no file behind it, and belongs to the module all the same. */
static void add_zeroed_data(const Elf64_Phdr *segments, size_t count, uint64_t size_max,
			    struct recorded_module *module)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_LOAD) {
			begin = MIN(begin, segments[i].p_vaddr - segments[i].p_offset);
			end = MAX(end, segments[i].p_vaddr + segments[i].p_memsz);
		}
	if (end > begin && end - begin <= size_max)
		module->size = MAX(module->size, end - begin);
}

/* Reads the file's header from memory. */
static void read_head(int memory, uint64_t size_max, struct recorded_module *module)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t count = read_segments(memory, module->base, segments);

	read_build_id(memory, segments, count, module);
	add_zeroed_data(segments, count, size_max, module);
}

static bool belongs_to(const struct recorded_module *module, const struct mapping *mapping)
{
	return module && mapping->offset > module->offset &&
	       strcmp(module->path, mapping->path) == 0;
}

/* Mappings of one file with growing offsets are one module; without code they are none. */
static uint32_t modules_gather(const struct maps *maps, struct recorded_module *into)
{
	struct recorded_module *module = NULL;
	uint32_t count = 0;
	bool has_code = false;

	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->items[i];

		if (mapping->path[0] != '/' && strcmp(mapping->path, "[vdso]") != 0)
			continue;
		if (!belongs_to(module, mapping)) {
			count += module && has_code;
			has_code = false;
			module = &into[count];
			*module = (struct recorded_module){ .base = mapping->start,
							    .offset = mapping->offset,
							    .path = mapping->path };
		}
		module->size = mapping->end - module->base;
		has_code |= mapping->executable;
	}
	return count + (module && has_code);
}

static int write_modules(struct recording *recording, uint32_t number, const struct maps *maps,
			 int memory, struct err *err)
{
	struct recorded_module *modules = calloc(maps->count + 1, sizeof(*modules));
	uint32_t count;
	int r;

	if (!modules)
		return err_set(err, -ENOMEM, "modules: no memory");
	count = modules_gather(maps, modules);
	for (uint32_t i = 0; i < count; i++)
		if (!modules[i].offset)
			read_head(memory,
				  (i + 1 < count ? modules[i + 1].base : UINT64_MAX) -
					  modules[i].base,
				  &modules[i]);
	r = recording_list(recording, CHUNK_MODULES, &(struct list_head){ number, 0, count },
			   modules, err);
	free(modules);
	return r;
}

int facts_modules(struct recording *recording, pid_t pid, uint32_t number, struct err *err)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	CLEANUP(close) int memory = memory_open(pid);
	int r = maps_read(pid, &maps, err);

	return r ? r : write_modules(recording, number, &maps, memory, err);
}

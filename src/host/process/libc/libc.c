/*
 * Finds the C library of a process.  File names do not suffice (Debian's musl is a plain libc.so,
 * glibc was libc-2.31.so): the DT_SONAME of the object at AT_BASE counts; file names are used only
 * where memory may not be read.
 */
#include "host/process/libc/libc.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/process/memory.h"

#define NAME_BYTES    64
#define CHUNK_BYTES   ((size_t)64 << 10)
#define OVERLAP_BYTES ((size_t)128)
#define MAX_BYTES     ((size_t)16 << 20)

static void library_name(const char *path, char *ret)
{
	struct text name = text_of(path_base_name(path)), first;

	/* Without the " (deleted)" of a library that was replaced on disk. */
	text_copy(text_take_field(&name, ' ', &first) ? first : name, ret, NAME_BYTES);
}

static bool name_begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void object_name(const struct mapping *mapping, int memory, char *ret)
{
	if (!memory_soname(memory, mapping->start, ret, NAME_BYTES))
		library_name(mapping->path, ret);
}

static bool is_glibc_name(const char *name)
{
	return strcmp(name, "libc.so.6") == 0 || name_begins(name, "libc-2.") ||
	       strcmp(name, "libc.so.6.1") == 0;
}

/* musl's dynamic linker and library are one object. */
static bool is_musl_name(const char *name)
{
	return strcmp(name, "libc.so") == 0 || name_begins(name, "libc.musl-") ||
	       name_begins(name, "ld-musl-");
}

static bool is_linker_name(const char *name)
{
	return name_begins(name, "ld-") || name_begins(name, "ld.so") ||
	       name_begins(name, "ld64.so") || is_musl_name(name);
}

/*
 * The dynamic linker: at AT_BASE, or, when it was run as a command with the program as its
 * argument, the main object itself.  NULL for a static executable.
 */
static const struct mapping *find_linker(const struct maps *maps, const struct auxv *auxv,
					 int memory)
{
	const struct mapping *linker = maps_at(maps, auxv_value(auxv, AT_BASE));
	char name[NAME_BYTES];

	if (linker)
		return linker;
	linker = maps_at(maps, auxv_value(auxv, AT_PHDR));
	if (!linker || linker->offset != 0)
		return NULL;
	object_name(linker, memory, name);
	return is_linker_name(name) ? linker : NULL;
}

/*
 * From the top down: libraries are mapped downwards, and a second copy (dlmopen) is below the
 * first.  By file name first, which is cheap; then by each object's DT_SONAME.
 */
static const struct mapping *find_glibc(const struct maps *maps, int memory)
{
	char name[NAME_BYTES];

	for (size_t i = maps->count; i-- > 0;) {
		library_name(maps->items[i].path, name);
		if (maps->items[i].offset == 0 && is_glibc_name(name))
			return &maps->items[i];
	}
	for (size_t i = maps->count; i-- > 0;)
		if (maps->items[i].offset == 0 && maps->items[i].path[0] == '/' &&
		    memory_soname(memory, maps->items[i].start, name, sizeof(name)) &&
		    is_glibc_name(name))
			return &maps->items[i];
	return NULL;
}

static bool has_library(const struct maps *maps, const char *prefix)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < maps->count; i++) {
		library_name(maps->items[i].path, name);
		if (name_begins(name, prefix))
			return true;
	}
	return false;
}

static void set_location(struct libc *libc, enum libc_flavour flavour,
			 const struct mapping *mapping)
{
	libc->flavour = flavour;
	libc->base = mapping->start;
	memcpy(libc->path, mapping->path, sizeof(libc->path));
}

/* Symbol versions do not suffice for the version: glibc 2.31 defines none newer than 2.30.  The
 * text inside the library has it, and is in memory even when the file was replaced on disk. */
static bool read_component(struct text *text, unsigned *ret)
{
	uint64_t value;

	if (!text_take_number(text, 10, &value) || value > 999)
		return false;
	*ret = (unsigned)value;
	return true;
}

/* "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36." */
static bool search_glibc(const char *bytes, size_t size, struct libc *ret)
{
	static const char banner[] = " release version ";
	const char *found = memmem(bytes, size, banner, sizeof(banner) - 1);
	struct text text = { found ? found + sizeof(banner) - 1 : NULL, bytes + size };

	return found && read_component(&text, &ret->major) && text_take_char(&text, '.') &&
	       read_component(&text, &ret->minor);
}

/* musl holds its version as a string of its own: "\01.2.3\0". */
static bool search_musl(const char *bytes, size_t size, struct libc *ret)
{
	const char *end = bytes + size, *at = bytes;

	while ((at = memchr(at, '\0', (size_t)(end - at)))) {
		struct text text = { ++at, end };

		if (read_component(&text, &ret->major) && text_take_char(&text, '.') &&
		    read_component(&text, &ret->minor) && text_take_char(&text, '.') &&
		    read_component(&text, &ret->patch) && text_take_char(&text, '\0'))
			return true;
		ret->major = ret->minor = ret->patch = 0;
	}
	return false;
}

bool libc_version_search(const char *bytes, size_t size, struct libc *ret)
{
	return ret->flavour == LIBC_MUSL ? search_musl(bytes, size, ret)
					 : search_glibc(bytes, size, ret);
}

/* From the end: constants come after code. */
static bool search_mapping(const struct mapping *mapping, int memory, struct libc *ret)
{
	char bytes[CHUNK_BYTES];
	uint64_t size = MIN(mapping->end - mapping->start, (uint64_t)MAX_BYTES);
	uint64_t step = CHUNK_BYTES - OVERLAP_BYTES;

	for (uint64_t at = size ? (size - 1) / step * step + step : 0; at > 0; at -= step) {
		uint64_t from = at - step;

		if (!memory_read(memory, mapping->start + from, bytes,
				 MIN(CHUNK_BYTES, size - from)))
			return false;
		if (libc_version_search(bytes, MIN(CHUNK_BYTES, size - from), ret))
			return true;
	}
	return false;
}

static void libc_version_find(const struct maps *maps, const struct mapping *library, int memory,
			      struct libc_cache *cache, struct libc *ret)
{
	if (memory < 0)
		return;
	for (size_t i = 0; i < cache->count; i++)
		if (cache->items[i].inode == library->inode &&
		    cache->items[i].dev_major == library->dev_major &&
		    cache->items[i].dev_minor == library->dev_minor) {
			ret->major = cache->items[i].major;
			ret->minor = cache->items[i].minor;
			ret->patch = cache->items[i].patch;
			return;
		}
	for (const struct mapping *it = maps->items + maps->count; it-- > library;) {
		if (it->inode != library->inode || it->dev_major != library->dev_major ||
		    it->dev_minor != library->dev_minor || !it->readable || it->writable ||
		    !search_mapping(it, memory, ret))
			continue;
		if (cache->count < ARRAY_SIZE(cache->items))
			cache->items[cache->count++] =
				(struct libc_version){ library->inode,     library->dev_major,
						       library->dev_minor, ret->major,
						       ret->minor,         ret->patch };
		return;
	}
}

void libc_find(const struct maps *maps, const struct auxv *auxv, int memory,
	       struct libc_cache *cache, struct libc *ret)
{
	const struct mapping *linker, *library;
	char name[NAME_BYTES];

	memset(ret, 0, sizeof(*ret));
	if (maps->count == 0 || auxv->size == 0)
		return;
	ret->flavour = LIBC_NONE;
	linker = find_linker(maps, auxv, memory);
	if (!linker)
		return;

	object_name(linker, memory, name);
	library = is_musl_name(name) ? linker : find_glibc(maps, memory);
	if (library == linker)
		set_location(ret, LIBC_MUSL, linker);
	else if (library)
		set_location(ret, LIBC_GLIBC, library);
	else
		ret->flavour = is_linker_name(name) ? LIBC_NOT_YET : LIBC_OTHER;
	if (library)
		libc_version_find(maps, library, memory, cache, ret);
	ret->has_libpthread = has_library(maps, "libpthread");
}

static const char *const flavour_names[] = {
	[LIBC_UNKNOWN] = "unknown", [LIBC_NONE] = "none", [LIBC_NOT_YET] = "not yet",
	[LIBC_GLIBC] = "glibc",     [LIBC_MUSL] = "musl", [LIBC_OTHER] = "other",
};

const char *libc_flavour_name(enum libc_flavour flavour)
{
	return flavour_names[flavour];
}

const char *libc_describe(const struct libc *libc, char *buffer, size_t capacity)
{
	const char *name = libc_flavour_name(libc->flavour);

	if (!libc->major)
		snprintf(buffer, capacity, "%s", name);
	else if (libc->flavour == LIBC_MUSL)
		snprintf(buffer, capacity, "%s %u.%u.%u", name, libc->major, libc->minor,
			 libc->patch);
	else
		snprintf(buffer, capacity, "%s %u.%u", name, libc->major, libc->minor);
	return buffer;
}

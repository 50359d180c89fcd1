/*
 * Searches the C library of a process for its version.  Symbol versions do not suffice: glibc 2.31
 * defines none newer than 2.30.  The banner text has it, and is in memory even when the file was
 * replaced on disk.
 */
#include "host/process/libc/libc_version.h"

#include <string.h>

#include "host/core/text/text.h"
#include "host/process/memory.h"

#define CHUNK_BYTES   ((size_t)64 << 10)
#define OVERLAP_BYTES ((size_t)128)
#define MAX_BYTES     ((size_t)16 << 20)

static bool take_component(struct text *text, unsigned *ret)
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

	return found && take_component(&text, &ret->major) && text_take_char(&text, '.') &&
	       take_component(&text, &ret->minor);
}

/* musl holds its version as a string of its own: "\01.2.3\0". */
static bool search_musl(const char *bytes, size_t size, struct libc *ret)
{
	const char *end = bytes + size, *at = bytes;

	while ((at = memchr(at, '\0', (size_t)(end - at)))) {
		struct text text = { ++at, end };

		if (take_component(&text, &ret->major) && text_take_char(&text, '.') &&
		    take_component(&text, &ret->minor) && text_take_char(&text, '.') &&
		    take_component(&text, &ret->patch) && text_take_char(&text, '\0'))
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

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

static bool libc_version_recall(const struct libc_cache *cache, const struct mapping *library,
				struct libc *ret)
{
	for (size_t i = 0; i < cache->count; i++) {
		if (cache->items[i].inode != library->inode ||
		    cache->items[i].dev_major != library->dev_major ||
		    cache->items[i].dev_minor != library->dev_minor)
			continue;
		ret->major = cache->items[i].major;
		ret->minor = cache->items[i].minor;
		ret->patch = cache->items[i].patch;
		return true;
	}
	return false;
}

static void libc_version_remember(struct libc_cache *cache, const struct mapping *library,
				  const struct libc *libc)
{
	size_t i = cache->count;

	if (i == ARRAY_SIZE(cache->items))
		return;
	cache->items[i].inode = library->inode;
	cache->items[i].dev_major = library->dev_major;
	cache->items[i].dev_minor = library->dev_minor;
	cache->items[i].major = libc->major;
	cache->items[i].minor = libc->minor;
	cache->items[i].patch = libc->patch;
	cache->count++;
}

void libc_version_find(const struct maps *maps, const struct mapping *library, int memory,
		       struct libc_cache *cache, struct libc *ret)
{
	const struct mapping *end = maps->items + maps->count;

	if (memory < 0 || libc_version_recall(cache, library, ret))
		return;
	for (const struct mapping *mapping = end; mapping-- > library;)
		if (is_same_file(mapping, library) && mapping->readable && !mapping->writable &&
		    search_mapping(mapping, memory, ret)) {
			libc_version_remember(cache, library, ret);
			return;
		}
}

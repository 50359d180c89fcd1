/*
 * Parses /proc/PID/maps.  The kernel guarantees ascending, disjoint lines; lookups rely on that, so
 * a text that violates it is refused.
 */
#include "host/process/maps.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_TRIES 10

static bool read_flag(struct text *line, char set, char unset, bool *ret)
{
	*ret = text_take_char(line, set);
	return *ret || text_take_char(line, unset);
}

static bool read_device(struct text *line, struct mapping *ret)
{
	uint64_t major, minor;

	if (!text_take_number(line, 16, &major) || !text_take_char(line, ':') ||
	    !text_take_number(line, 16, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	ret->dev_major = (unsigned)major;
	ret->dev_minor = (unsigned)minor;
	return true;
}

/* "7f00-7f10 r-xp 00001000 fe:00 97615      /usr/bin/cat"; the path runs to the end, blanks
 * included. */
static bool mapping_parse(struct text line, struct mapping *ret)
{
	if (!text_take_number(&line, 16, &ret->start) || !text_take_char(&line, '-') ||
	    !text_take_number(&line, 16, &ret->end) || !text_take_char(&line, ' ') ||
	    !read_flag(&line, 'r', '-', &ret->readable) ||
	    !read_flag(&line, 'w', '-', &ret->writable) ||
	    !read_flag(&line, 'x', '-', &ret->executable) ||
	    !read_flag(&line, 's', 'p', &ret->shared) || !text_take_char(&line, ' ') ||
	    !text_take_number(&line, 16, &ret->offset) || !text_take_char(&line, ' ') ||
	    !read_device(&line, ret) || !text_take_char(&line, ' ') ||
	    !text_take_number(&line, 10, &ret->inode))
		return false;
	text_skip_blanks(&line);
	text_copy(line, ret->path, sizeof(ret->path));
	return ret->start < ret->end;
}

int maps_parse(const char *text, size_t size, struct maps *ret, struct err *err)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	struct text rest = { text, text + size }, line;
	uint64_t floor = 0;
	size_t room = 0;

	while (text_take_line(&rest, &line)) {
		struct mapping *mapping;

		if (make_room(&maps.items, maps.count, &room, sizeof(*maps.items)))
			return err_set(err, -ENOMEM, "%zu mappings", maps.count);
		mapping = &maps.items[maps.count];
		if (!mapping_parse(line, mapping) || mapping->start < floor)
			return err_set(err, -EBADMSG, "malformed mapping %zu: '%.*s'",
				       maps.count + 1, (int)MIN(line.end - line.at, 80), line.at);
		floor = mapping->end;
		maps.count++;
	}
	*ret = maps;
	maps.items = NULL;
	return 0;
}

/* The kernel returns the list page by page: a mapping that grows between two is listed twice. */
int maps_read(pid_t pid, struct maps *ret, struct err *err)
{
	struct err why = { 0 };
	int r = -EBADMSG;

	for (unsigned i = 0; r == -EBADMSG && i < READ_TRIES; i++) {
		CLEANUP(free) char *text = NULL;
		size_t size;

		r = proc_read(pid, "maps", &text, &size, &why);
		if (!r)
			r = maps_parse(text, size, ret, &why);
	}
	if (r && err)
		*err = why; /* on success, the caller's error is kept */
	return r;
}

void maps_done(struct maps *maps)
{
	free(maps->items);
	maps->items = NULL;
	maps->count = 0;
}

static uint64_t start_at(const void *items, size_t index)
{
	return ((const struct mapping *)items)[index].start;
}

const struct mapping *maps_at(const struct maps *maps, uint64_t address)
{
	size_t count = count_up_to(maps->items, maps->count, address, start_at);
	const struct mapping *last = count ? &maps->items[count - 1] : NULL;

	return last && address < last->end ? last : NULL;
}

unsigned runtimes_find(const struct maps *maps)
{
	unsigned found = 0;

	for (size_t i = 0; i < maps->count; i++)
		found |= runtime_of_file(maps->items[i].path);
	return found;
}

const char *runtime_library_path(const struct maps *maps, const struct runtime_library *library)
{
	for (size_t i = 0; i < maps->count; i++)
		if (runtime_library_is(library, maps->items[i].path))
			return maps->items[i].path;
	return NULL;
}

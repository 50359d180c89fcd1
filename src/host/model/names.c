/*
 * A table with open addressing.  The names come from a file that is not trusted.
 */
#include "host/model/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/symbols/demangle/demangle.h"

#define LEAST_ROOM 64u
#define TITLE_MAX  16384u

/* Where it is, or where it would be. */
static struct name_entry *slot_of(const struct names *names, uint32_t space, uint64_t id)
{
	uint64_t at = (id + space + 1) * 0x9e3779b97f4a7c15u >> 20;

	for (;; at++) {
		struct name_entry *named = &names->items[at & (names->room - 1)];

		if (!named->text || (named->id == id && named->space == space))
			return named;
	}
}

static int names_grow(struct names *names)
{
	struct names larger = { .count = names->count, .room = MAX(2 * names->room, LEAST_ROOM) };

	if (2 * names->count < names->room)
		return 0;
	larger.items = calloc(larger.room, sizeof(*larger.items));
	if (!larger.items)
		return -ENOMEM;
	for (size_t i = 0; i < names->room; i++)
		if (names->items[i].text)
			*slot_of(&larger, names->items[i].space, names->items[i].id) =
				names->items[i];
	free(names->items);
	*names = larger;
	return 0;
}

static int names_append(struct name_entry *named, const char *text, size_t length)
{
	size_t before = named->text ? strlen(named->text) : 0;
	char *longer = realloc(named->text, before + length + 1);

	if (!longer)
		return -ENOMEM;
	memcpy(longer + before, text, length);
	longer[before + length] = '\0';
	named->text = longer;
	return 0;
}

int names_add(struct names *names, const struct record_name *record)
{
	const char *text = (const char *)(record + 1);
	size_t length = strnlen(text, record->bytes);
	struct name_entry *named;
	int r = names_grow(names);

	if (r)
		return r;
	named = slot_of(names, record->space, record->id);
	if (record->head.count != (named->text ? named->parts : 0)) {
		if (record->head.count)
			return 0;
		named->text[0] = '\0'; /* sent again */
	}
	free(named->title);
	named->title = NULL;
	names->count += !named->text;
	named->id = record->id;
	named->space = record->space;
	named->parts = record->head.count + 1u;
	return names_append(named, text, length);
}

int names_finish(struct names *names)
{
	char title[TITLE_MAX];

	for (size_t i = 0; i < names->room; i++) {
		struct name_entry *named = &names->items[i];

		if (!named->text || named->title || named->space != NAME_KERNEL ||
		    !demangle(named->text, title, sizeof(title)))
			continue;
		named->title = strdup(title);
		if (!named->title)
			return -ENOMEM;
	}
	return 0;
}

const char *names_title(const struct names *names, enum name_space space, uint64_t id)
{
	const struct name_entry *named = names->room ? slot_of(names, space, id) : NULL;

	return named && named->title ? named->title : names_find(names, space, id);
}

const char *names_find(const struct names *names, enum name_space space, uint64_t id)
{
	const struct name_entry *named = names->room ? slot_of(names, space, id) : NULL;

	return named && named->text ? named->text : "";
}

void names_done(struct names *names)
{
	for (size_t i = 0; i < names->room; i++) {
		free(names->items[i].text);
		free(names->items[i].title);
	}
	free(names->items);
	*names = (struct names){ 0 };
}

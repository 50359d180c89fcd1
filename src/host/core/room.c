#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 16u

int make_room(void *list, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : LEAST_ROOM;
	void *longer;

	if (count < *room)
		return 0;
	longer = reallocarray(*(void **)list, wanted, size);
	if (!longer)
		return -ENOMEM;
	*(void **)list = longer;
	*room = wanted;
	return 0;
}

int append_item(void *list, size_t *count, size_t *room, const void *item, size_t size)
{
	int r = make_room(list, *count, room, size);

	if (!r)
		memcpy(*(char **)list + (*count)++ * size, item, size);
	return r;
}

int insert_room(void *list, size_t *count, size_t *room, size_t size, size_t index)
{
	int r = make_room(list, *count, room, size);
	char *at;

	if (r)
		return r;
	at = *(char **)list + index * size;
	memmove(at + size, at, (*count - index) * size);
	++*count;
	return 0;
}

void remove_item(void *items, size_t *count, size_t size, size_t index)
{
	char *at = (char *)items + index * size;

	--*count;
	memmove(at, at + size, (*count - index) * size);
}

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

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

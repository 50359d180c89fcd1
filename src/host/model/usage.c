/*
 * Keeps readings of processes.  A reading of an unknown process invalidates its chunk.
 */
#include "host/model/usage.h"

#include "host/core/room.h"

#include <errno.h>

static int look_add(struct model *model, struct cursor *cursor)
{
	struct usage_looks *self = &model->usage;
	struct recorded_usage usage;

	if (usage_take(cursor, &usage) || usage.process >= model->process_count)
		return -EPROTO;
	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return -ENOMEM;
	self->items[self->count++] = usage;
	return 0;
}

int usage_take_chunk(struct model *model, const struct chunk *chunk)
{
	struct cursor cursor = chunk->payload;
	size_t before = model->usage.count;
	uint32_t count;
	int r = usage_take_count(&cursor, &count);

	if (!r && count > model->records_max - MIN(before, model->records_max))
		return -EFBIG;
	for (uint32_t i = 0; !r && i < count; i++)
		r = look_add(model, &cursor);
	if (r)
		model->usage.count = before;
	return r;
}

/*
 * Puts calls that overlap side by side.
 */
#include "host/export/trace/lanes.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lanes_init(struct lanes *ret, const struct model *model, lane_ender *end, void *context)
{
	*ret = (struct lanes){ .owner_count = model->thread_count + model->process_count,
			       .fixed_count = model->thread_count + model->process_count,
			       .thread_count = model->thread_count,
			       .end = end,
			       .context = context };
	ret->owners = calloc(MAX(ret->owner_count, 1u), sizeof(*ret->owners));
	return ret->owners ? 0 : -ENOMEM;
}

uint32_t lanes_owner(const struct lanes *lanes, const struct call *call)
{
	return call->is_process_wide ? lanes->thread_count + call->process->number
				     : call->thread->number;
}

uint32_t lanes_track_owner(const struct lanes *lanes, uint32_t track)
{
	return lanes->fixed_count + track;
}

/* Tracks of devices are added one by one. */
static int make_owner(struct lanes *lanes, uint32_t owner)
{
	struct owner_lanes *longer;

	if (owner < lanes->owner_count)
		return 0;
	longer = reallocarray(lanes->owners, owner + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	memset(longer + lanes->owner_count, 0, (owner + 1 - lanes->owner_count) * sizeof(*longer));
	lanes->owners = longer;
	lanes->owner_count = owner + 1;
	return 0;
}

/* Ends the calls of a lane that are over at that time. */
static int end_until(struct lanes *lanes, uint32_t owner, uint32_t index, uint64_t time_ns)
{
	struct lane *lane = &lanes->owners[owner].lanes[index];
	int r = 0;

	while (!r && lane->count && lane->ends_ns[lane->count - 1] <= time_ns) {
		uint64_t end_ns = lane->ends_ns[--lane->count];

		if (lanes->end)
			r = lanes->end(lanes->context, owner, index, end_ns);
	}
	return r;
}

static int lanes_push(struct lane *lane, uint64_t end_ns)
{
	if (make_room(&lane->ends_ns, lane->count, &lane->room, sizeof(*lane->ends_ns)))
		return -ENOMEM;
	lane->ends_ns[lane->count++] = end_ns;
	return 0;
}

static int add_lane(struct owner_lanes *owner)
{
	struct lane *longer = reallocarray(owner->lanes, owner->count + 1, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	owner->lanes = longer;
	owner->lanes[owner->count++] = (struct lane){ 0 };
	return 0;
}

int lanes_assign(struct lanes *lanes, uint32_t number, const struct call *call, uint32_t *ret_lane,
		 bool *ret_is_new)
{
	struct owner_lanes *owner;
	uint32_t index;

	if (make_owner(lanes, number))
		return -ENOMEM;
	owner = &lanes->owners[number];
	for (index = 0; index < owner->count; index++) {
		struct lane *lane = &owner->lanes[index];
		int r = end_until(lanes, number, index, call->begin_ns);

		if (r)
			return r;
		if (!lane->count || lane->ends_ns[lane->count - 1] >= call->end_ns)
			break;
	}
	*ret_lane = index;
	*ret_is_new = index == owner->count;
	if (*ret_is_new && add_lane(owner))
		return -ENOMEM;
	return lanes_push(&owner->lanes[index], call->end_ns);
}

int lanes_pass(struct lanes *lanes, const struct call *call)
{
	uint32_t owner = lanes_owner(lanes, call);

	return lanes->owners[owner].count ? end_until(lanes, owner, 0, call->begin_ns) : 0;
}

int lanes_finish(struct lanes *lanes)
{
	int r = 0;

	for (uint32_t owner = 0; owner < lanes->owner_count; owner++)
		for (uint32_t lane = 0; !r && lane < lanes->owners[owner].count; lane++)
			r = end_until(lanes, owner, lane, UINT64_MAX);
	return r;
}

void lanes_done(struct lanes *lanes)
{
	for (uint32_t i = 0; lanes->owners && i < lanes->owner_count; i++) {
		for (uint32_t lane = 0; lane < lanes->owners[i].count; lane++)
			free(lanes->owners[i].lanes[lane].ends_ns);
		free(lanes->owners[i].lanes);
	}
	free(lanes->owners);
}

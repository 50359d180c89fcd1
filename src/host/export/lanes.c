/*
 * Puts calls that overlap side by side.
 */
#include "host/export/lanes.h"

#include <errno.h>
#include <stdlib.h>

int lanes_init(struct lanes *ret, uint32_t thread_count, lane_ender *end, void *context)
{
	*ret = (struct lanes){ .thread_count = thread_count, .end = end, .context = context };
	ret->threads = calloc(MAX(thread_count, 1u), sizeof(*ret->threads));
	return ret->threads ? 0 : -ENOMEM;
}

/* Ends the calls of a lane that are over at that time. */
static int end_until(struct lanes *lanes, uint32_t thread, uint32_t index, uint64_t time_ns)
{
	struct lane *lane = &lanes->threads[thread].lanes[index];
	int r = 0;

	while (!r && lane->count && lane->ends_ns[lane->count - 1] <= time_ns)
		r = lanes->end(lanes->context, thread, index, lane->ends_ns[--lane->count]);
	return r;
}

static int push(struct lane *lane, uint64_t end_ns)
{
	if (lane->count == lane->room) {
		size_t room = lane->room ? lane->room * 2 : 8;
		uint64_t *longer = reallocarray(lane->ends_ns, room, sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		lane->ends_ns = longer;
		lane->room = room;
	}
	lane->ends_ns[lane->count++] = end_ns;
	return 0;
}

static int add_lane(struct thread_lanes *thread)
{
	struct lane *longer = reallocarray(thread->lanes, thread->count + 1, sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	thread->lanes = longer;
	thread->lanes[thread->count++] = (struct lane){ 0 };
	return 0;
}

int lanes_place(struct lanes *lanes, const struct call *call, uint32_t *ret_lane, bool *ret_is_new)
{
	struct thread_lanes *thread = &lanes->threads[call->thread->number];
	uint32_t index;

	for (index = 0; index < thread->count; index++) {
		struct lane *lane = &thread->lanes[index];
		int r = end_until(lanes, call->thread->number, index, call->begin_ns);

		if (r)
			return r;
		if (!lane->count || lane->ends_ns[lane->count - 1] >= call->end_ns)
			break;
	}
	*ret_lane = index;
	*ret_is_new = index == thread->count;
	if (*ret_is_new && add_lane(thread))
		return -ENOMEM;
	return push(&thread->lanes[index], call->end_ns);
}

int lanes_finish(struct lanes *lanes)
{
	int r = 0;

	for (uint32_t thread = 0; thread < lanes->thread_count; thread++)
		for (uint32_t lane = 0; !r && lane < lanes->threads[thread].count; lane++)
			r = end_until(lanes, thread, lane, UINT64_MAX);
	return r;
}

void lanes_done(struct lanes *lanes)
{
	for (uint32_t i = 0; lanes->threads && i < lanes->thread_count; i++) {
		for (uint32_t lane = 0; lane < lanes->threads[i].count; lane++)
			free(lanes->threads[i].lanes[lane].ends_ns);
		free(lanes->threads[i].lanes);
	}
	free(lanes->threads);
}

/*
 * What moved between several dumps: the first thread of each rank, compared from one to the next.
 */
#include "host/fleet/merge/fleet_dump.h"

#include <errno.h>

static const char *const names[MOTIONS] = {
	[MOTION_UNKNOWN] = "not seen each time",
	[MOTION_STILL] = "still",
	[MOTION_SPUN] = "same call, but running",
	[MOTION_MOVED] = "moved",
};

const char *motion_name(enum motion motion)
{
	return names[motion < MOTIONS ? motion : MOTION_UNKNOWN];
}

/* The threads of one rank, from `at` to `end`. */
static enum motion motion_of(const struct fleet_dump *dump, size_t at, size_t end)
{
	const struct seen_thread *last = NULL;
	enum motion motion = MOTION_STILL;
	uint32_t seen = 0;

	for (; at < end; at++) {
		const struct seen_thread *thread = &dump->threads[at];

		if (!thread->is_first || thread->path == PATH_NONE)
			continue;
		if (last && thread->path != last->path)
			motion = MOTION_MOVED;
		else if (last && motion != MOTION_MOVED &&
			 (thread->turns != last->turns || thread->state == 'R'))
			motion = MOTION_SPUN;
		last = thread;
		seen++;
	}
	return seen == dump->rounds ? motion : MOTION_UNKNOWN;
}

int motions_find(struct motions *ret, const struct fleet_dump *dump)
{
	size_t at = 0;
	int r = 0;

	*ret = (struct motions){ 0 };
	while (!r && at < dump->count) {
		uint32_t rank = dump->threads[at].rank;
		size_t end = at;

		while (end < dump->count && dump->threads[end].rank == rank)
			end++;
		r = rank_set_add(&ret->ranks[motion_of(dump, at, end)], rank);
		at = end;
	}
	return r;
}

void motions_done(struct motions *motions)
{
	for (unsigned i = 0; i < MOTIONS; i++)
		rank_set_done(&motions->ranks[i]);
}

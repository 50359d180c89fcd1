/*
 * Compares several dumps: the first thread of each rank, from one dump to the next.
 */
#include "host/fleet/merge/fleet_dump.h"

#include <errno.h>

static const char *const names[MOTIONS] = {
	[MOTION_UNKNOWN] = "not seen each time", [MOTION_STOPPED] = "stopped",
	[MOTION_WAITED] = "waits in one place",  [MOTION_WOKE] = "waits in one place, runs between",
	[MOTION_SPUN] = "spins in one place",    [MOTION_MOVED] = "moves: call sites change",
};

const char *motion_name(enum motion motion)
{
	return names[motion < MOTIONS ? motion : MOTION_UNKNOWN];
}

/* The innermost call of this kind, from a call outwards; PATH_NONE: none. */
static uint32_t innermost_of(const struct call_paths *paths, uint32_t path, enum frame_kind kind)
{
	while (path != PATH_NONE && paths->items[path].kind != kind)
		path = paths->items[path].parent;
	return path;
}

/* The program's own call: a library that it has called may do different things meanwhile, and so
 * may the interpreter of a script. */
static uint32_t place_of(const struct call_paths *paths, uint32_t path)
{
	uint32_t place = innermost_of(paths, path, FRAME_SCRIPT);

	if (place == PATH_NONE)
		place = innermost_of(paths, path, FRAME_PROGRAM);
	return place == PATH_NONE ? path : place;
}

/* The line of a running thread's innermost function is not known: it matches any. */
static bool is_same_call(const struct call_path *one, const struct call_path *other)
{
	return one->parent == other->parent && one->function == other->function &&
	       one->module == other->module &&
	       (one->line == other->line || !one->line || !other->line);
}

/* Both at one place, or one in an ancestor of the other. */
static bool is_same_place(const struct call_paths *paths, uint32_t one, uint32_t other)
{
	const struct call_path *items = paths->items;

	while (items[one].depth > items[other].depth)
		one = items[one].parent;
	while (items[other].depth > items[one].depth)
		other = items[other].parent;
	return is_same_call(&items[one], &items[other]);
}

/* What the rounds have shown of one thread so far. */
struct looks {
	const struct call_paths *paths;
	const struct seen_thread *last;
	uint32_t place; /* the deepest one */
	uint32_t seen;
	bool has_moved, has_spun, has_run;
};

static void look_add(struct looks *self, const struct seen_thread *thread)
{
	uint32_t place = place_of(self->paths, thread->path);

	self->has_spun |= thread->state == 'R';
	if (self->last) {
		self->has_run |= thread->turns != self->last->turns;
		self->has_moved |= !is_same_place(self->paths, self->place, place);
	}
	if (!self->last || self->paths->items[place].depth > self->paths->items[self->place].depth)
		self->place = place;
	self->last = thread;
	self->seen++;
}

static enum motion looks_judge(const struct looks *self, uint32_t rounds)
{
	if (self->last && thread_is_stopped(self->last))
		return MOTION_STOPPED;
	if (self->seen != rounds)
		return MOTION_UNKNOWN;
	if (self->has_moved)
		return MOTION_MOVED;
	if (self->has_spun)
		return MOTION_SPUN;
	return self->has_run ? MOTION_WOKE : MOTION_WAITED;
}

/* The threads of one rank, from `at` to `end`. */
static enum motion motion_of(const struct fleet_dump *dump, size_t at, size_t end)
{
	struct looks looks = { .paths = &dump->paths };

	for (; at < end; at++)
		if (dump->threads[at].is_first && dump->threads[at].path != PATH_NONE)
			look_add(&looks, &dump->threads[at]);
	return looks_judge(&looks, dump->rounds);
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

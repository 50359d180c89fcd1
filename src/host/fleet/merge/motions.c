/*
 * Compares several dumps: the first thread of each rank, from one dump to the next.
 */
#include "host/fleet/merge/fleet_dump.h"

static const char *const names[MOTIONS] = {
	[MOTION_UNKNOWN] = "not seen each time", [MOTION_STOPPED] = "stopped",
	[MOTION_WAITED] = "waits in one place",  [MOTION_WOKE] = "waits in one place, runs between",
	[MOTION_SPUN] = "spins in one place",    [MOTION_MOVED] = "moves: call sites change",
};

const char *motion_name(enum motion motion)
{
	return names[motion < MOTIONS ? motion : MOTION_UNKNOWN];
}

/* The program's own call from this one outwards, of a script if there is one: a library that it has
 * called may do different things meanwhile, and so may the interpreter of a script. */
static uint32_t place_of(const struct call_paths *paths, uint32_t path)
{
	static const enum frame_kind kinds[] = { FRAME_SCRIPT, FRAME_PROGRAM };

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		for (uint32_t at = path; at; at = paths->tree.nodes[at].parent)
			if (call_path_frame(paths, at)->kind == kinds[i])
				return at;
	return path;
}

/* Both at one place, or one in an ancestor of the other.  The line of a running thread's innermost
 * function is not known: it matches any. */
static bool is_same_place(const struct call_paths *paths, uint32_t first, uint32_t second)
{
	const struct tree_node *nodes = paths->tree.nodes;
	const struct path_frame *one, *other;

	while (nodes[first].depth > nodes[second].depth)
		first = nodes[first].parent;
	while (nodes[second].depth > nodes[first].depth)
		second = nodes[second].parent;
	one = call_path_frame(paths, first);
	other = call_path_frame(paths, second);
	return nodes[first].parent == nodes[second].parent && one->function == other->function &&
	       one->module == other->module &&
	       (one->line == other->line || !one->line || !other->line);
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
	const struct tree_node *nodes = self->paths->tree.nodes;
	uint32_t place = place_of(self->paths, thread->path);

	self->has_spun |= thread->state == 'R';
	if (self->last) {
		self->has_run |= thread->turns != self->last->turns;
		self->has_moved |= !is_same_place(self->paths, self->place, place);
	}
	if (!self->last || nodes[place].depth > nodes[self->place].depth)
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

int motions_find(struct motions *ret, const struct fleet_dump *dump)
{
	size_t at = 0;
	int r = 0;

	*ret = (struct motions){ 0 };
	while (!r && at < dump->count) {
		struct looks looks = { .paths = &dump->paths };
		uint32_t rank = dump->threads[at].rank;

		for (; at < dump->count && dump->threads[at].rank == rank; at++)
			if (dump->threads[at].is_first && dump->threads[at].path != PATH_NONE)
				look_add(&looks, &dump->threads[at]);
		r = rank_set_add(&ret->ranks[looks_judge(&looks, dump->rounds)], rank);
	}
	return r;
}

void motions_done(struct motions *motions)
{
	for (unsigned i = 0; i < MOTIONS; i++)
		rank_set_done(&motions->ranks[i]);
}

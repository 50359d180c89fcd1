/*
 * Collects the stacks that node parts send, compares several dumps (the first thread of each rank,
 * from one dump to the next), and finds ranks that cannot run, by the states of their processes and
 * first threads.  Runs at home.
 */
#include "host/fleet/merge/fleet_dump.h"

#include "host/core/room.h"
#include "host/core/rows.h"
#include "host/core/threads/thread_state.h"
#include "host/fleet/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX (16u << 20)
#define OF_NODE_MAX (1u << 18) /* threads that one node may send, all rounds together */

static struct path_map *map_of(struct fleet_dump *self, uint32_t node)
{
	if (node >= self->map_count) {
		size_t count = MAX((size_t)node + 1, 2 * self->map_count);
		struct path_map *maps = reallocarray(self->maps, count, sizeof(*maps));

		if (!maps)
			return NULL;
		memset(maps + self->map_count, 0, (count - self->map_count) * sizeof(*maps));
		self->maps = maps;
		self->map_count = count;
	}
	return &self->maps[node];
}

static int thread_take(struct fleet_dump *self, const struct path_map *map, uint32_t node,
		       const struct stacks_message *stacks, const struct stacks_thread *told)
{
	struct seen_thread thread = {
		.node = node,
		.tid = told->tid,
		.top = (pid_t)stacks->pid,
		.process = (pid_t)stacks->process,
		.round = stacks->round,
		.flags = told->flags,
		.state = (char)told->state,
		.path = told->flags & THREAD_HAS_STACK ? path_map_find(map, told->leaf) : PATH_NONE,
		.turns = told->turns,
		.name = pool_add(&self->paths.texts, told->name),
		.call = pool_add(&self->paths.texts, told->call),
		.object = pool_add(&self->paths.texts, told->object),
	};

	if (thread.name == POOL_NONE || thread.call == POOL_NONE || thread.object == POOL_NONE)
		return -ENOMEM;
	if (self->count >= THREADS_MAX ||
	    make_room(&self->threads, self->count, &self->room, sizeof(*self->threads)))
		return -ENOMEM;
	self->threads[self->count++] = thread;
	return 0;
}

static int stacks_add(struct fleet_dump *self, uint32_t node, struct path_map *map,
		      struct stacks_message *stacks)
{
	struct stacks_thread thread;
	int r = 0;

	if (stacks->round >= DUMP_TIMES_MAX || map->thread_count > OF_NODE_MAX)
		return 0;
	map->thread_count += stacks->thread_count;
	self->rounds = MAX(self->rounds, stacks->round + 1);
	for (uint32_t i = 0; !r && i < stacks->thread_count; i++) {
		if (!stacks_take_thread(stacks, &thread))
			return 0;
		r = thread_take(self, map, node, stacks, &thread);
	}
	return r;
}

int fleet_dump_take(struct fleet_dump *self, uint32_t node, uint32_t kind, struct cursor *cursor)
{
	struct path_map *map = map_of(self, node);
	struct frames_message frames;
	struct stacks_message stacks;

	if (!map)
		return -ENOMEM;
	if (kind == MESSAGE_FRAMES)
		return frames_take(cursor, &frames) ? call_paths_take(&self->paths, map, &frames)
						    : 0;
	if (kind == MESSAGE_STACKS)
		return stacks_take(cursor, &stacks) ? stacks_add(self, node, map, &stacks) : 0;
	return 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct seen_thread *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->round != right->round)
		return left->round < right->round ? -1 : 1;
	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

int fleet_dump_settle(struct fleet_dump *self, const struct fleet *fleet)
{
	size_t kept = 0;

	for (size_t i = 0; i < self->count; i++) {
		struct seen_thread *thread = &self->threads[i];
		const struct fleet_rank *rank = fleet_find_rank(fleet, thread->node, thread->top);

		if (!rank)
			continue;
		thread->rank = rank->number;
		thread->is_first = thread->process == rank->pid && thread->flags & THREAD_IS_MAIN;
		self->threads[kept++] = *thread;
	}
	self->count = kept;
	if (kept)
		qsort(self->threads, kept, sizeof(*self->threads), compare_threads);
	return 0;
}

void fleet_dump_done(struct fleet_dump *self)
{
	for (size_t i = 0; i < self->map_count; i++)
		path_map_done(&self->maps[i]);
	free(self->maps);
	free(self->threads);
	call_paths_done(&self->paths);
	*self = (struct fleet_dump){ 0 };
}

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

static const struct {
	char state; /* of the process; 0: unknown */
	const char *name, *cause;
} halts[HALTS] = {
	[HALT_NONE] = { 0, "", "" },
	[HALT_STOPPED] = { 'T', "stopped", "by a signal: kill -CONT PID continues it" },
	[HALT_TRACED] = { 't', "traced", "stopped by a debugger or tracer" },
	[HALT_FROZEN] = { STATE_FROZEN, "frozen", "by its control group: thaw that" },
	[HALT_ZOMBIE] = { 'Z', "zombie", "it has ended, and its parent has not collected it" },
	[HALT_ENDED] = { 'X', "ended", "there is no such process any more" },
};

const char *halt_name(enum halt halt)
{
	return halts[halt < HALTS ? halt : HALT_NONE].name;
}

const char *halt_cause(enum halt halt)
{
	return halts[halt < HALTS ? halt : HALT_NONE].cause;
}

static enum halt halt_of(char state)
{
	enum halt halt = HALTS - 1;

	while (halt != HALT_NONE && (!state || halts[halt].state != state))
		halt--;
	return halt;
}

static int compare_halted(const void *a, const void *b)
{
	const struct halted *left = a, *right = b;

	if (left->halt != right->halt)
		return left->halt < right->halt ? -1 : 1;
	if (left->rank->node != right->rank->node)
		return left->rank->node < right->rank->node ? -1 : 1;
	return (left->rank->number > right->rank->number) -
	       (left->rank->number < right->rank->number);
}

/* Every rank, by its index in the fleet. */
static void ranks_judge(struct halted *items, const struct fleet_dump *dump,
			const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];
		enum halt halt = halt_of(rank->process_state);

		/* A first thread that has ended is a zombie as well, while other threads of its
		 * process run. */
		if (halt == HALT_ZOMBIE && rank->threads > 1)
			halt = HALT_NONE;
		if (halt == HALT_NONE && rank->state == RANK_ENDED)
			halt = HALT_ENDED;
		items[i] = (struct halted){ halt, rank };
	}
	/* A thread's state is newer than its process's, but no state of a thread shows that it is
	 * frozen. */
	for (size_t i = 0; i < dump->count; i++) {
		const struct seen_thread *thread = &dump->threads[i];
		const struct fleet_rank *rank = fleet_find_rank(fleet, thread->node, thread->top);
		struct halted *item = rank ? &items[rank - fleet->ranks] : NULL;

		if (!item || !thread->is_first)
			continue;
		if (thread_is_stopped(thread))
			item->halt = halt_of(thread->state);
		else if (item->halt == HALT_STOPPED || item->halt == HALT_TRACED)
			item->halt = HALT_NONE;
	}
}

int halts_find(struct halted_ranks *ret, const struct fleet_dump *dump, const struct fleet *fleet)
{
	struct halted *items = calloc(fleet->rank_count + 1, sizeof(*items));

	*ret = (struct halted_ranks){ .items = items };
	if (!items)
		return -ENOMEM;
	ranks_judge(items, dump, fleet);
	for (size_t i = 0; i < fleet->rank_count; i++)
		if (items[i].halt != HALT_NONE)
			items[ret->count++] = items[i];
	rows_sort(items, ret->count, sizeof(*items), compare_halted);
	return 0;
}

void halts_done(struct halted_ranks *ranks)
{
	free(ranks->items);
	*ranks = (struct halted_ranks){ 0 };
}

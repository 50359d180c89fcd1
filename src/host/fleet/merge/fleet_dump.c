/*
 * Collects the stacks that node parts send.  Runs at home.
 */
#include "host/fleet/merge/fleet_dump.h"

#include "host/core/room.h"
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

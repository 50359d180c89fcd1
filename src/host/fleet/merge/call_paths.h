/*
 * The calls of all nodes in one tree, each function and line below its caller.  Nodes number their
 * functions themselves: a map for each node leads into this tree.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/fleet/message.h"

#define PATH_NONE UINT32_MAX /* no node: the root's parent, or lost on its way */

struct call_path {
	uint32_t parent;                 /* PATH_NONE: it is outermost */
	uint32_t function, module, file; /* texts */
	uint32_t line;                   /* 0: not known, or irrelevant */
	uint32_t depth;
	enum frame_kind kind;
};

/* Zero is empty. */
struct call_paths {
	struct pool texts;
	struct call_path *items; /* parents before their children */
	size_t count, room;
	struct table numbers;
};

/* The numbers of one node. */
struct path_map {
	uint32_t *texts, *paths; /* by the node's numbers; PATH_NONE: lost */
	size_t text_count, text_room, path_count, path_room;
	uint64_t thread_count; /* threads with stacks */
};

/* Adds functions of a node.  If a message before it was lost, paths through that are lost, too.  0
 * or -ENOMEM. */
int call_paths_take(struct call_paths *paths, struct path_map *map,
		    struct frames_message *frames) MUST_CHECK;
/* PATH_NONE: not known. */
uint32_t path_map_find(const struct path_map *map, uint32_t number);

static inline const char *call_path_function(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, paths->items[path].function);
}

static inline const char *call_path_module(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, paths->items[path].module);
}

static inline const char *call_path_file(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, paths->items[path].file);
}

void call_paths_done(struct call_paths *paths);
void path_map_done(struct path_map *map);

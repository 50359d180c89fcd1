/*
 * Calls as a tree, each function and line below its caller: on a node its own, at home those of all
 * nodes.  Nodes number their calls themselves: a map for each node leads into the tree at home.
 */
#pragma once

#include "host/core/pool.h"
#include "host/fleet/message.h"
#include "host/model/samples/call_tree.h"

#define PATH_NONE TREE_NONE /* lost on its way */

struct path_frame {
	uint32_t function, module, file; /* texts */
	uint32_t line;                   /* 0: not known, or irrelevant */
	enum frame_kind kind;
};

/* Zero is empty. */
struct call_paths {
	struct pool texts;
	struct call_tree tree; /* without metrics; values are indexes of frames */
	struct path_frame *frames;
	size_t frame_count, frame_room;
	struct table numbers; /* (function, module and line): index of a frame */
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

/* The node of a call below another one (0: it is outermost), made if it is missing; PATH_NONE: no
 * memory. */
uint32_t call_paths_find(struct call_paths *paths, uint32_t parent, const struct path_frame *frame);

static inline const struct path_frame *call_path_frame(const struct call_paths *paths,
						       uint32_t path)
{
	return &paths->frames[paths->tree.nodes[path].value];
}

static inline const char *call_path_function(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, call_path_frame(paths, path)->function);
}

static inline const char *call_path_module(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, call_path_frame(paths, path)->module);
}

static inline const char *call_path_file(const struct call_paths *paths, uint32_t path)
{
	return pool_text(&paths->texts, call_path_frame(paths, path)->file);
}

void call_paths_done(struct call_paths *paths);
void path_map_done(struct path_map *map);

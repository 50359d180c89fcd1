/*
 * Trees of calls that only grow, and merged ones.  Messages of nodes are foreign.
 */
#include "host/fleet/merge/call_paths.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

#define PATHS_MAX   (16u << 20)
#define OF_NODE_MAX (1u << 20) /* functions and texts of one node */
#define DEPTH_MAX   4096u

uint32_t call_paths_find(struct call_paths *self, uint32_t parent, const struct path_frame *frame)
{
	struct table_entry *entry;
	bool is_new;

	if (self->tree.count >= PATHS_MAX ||
	    (!self->tree.count && call_tree_init(&self->tree, /* sides */ 0)) ||
	    make_room(&self->frames, self->frame_count, &self->frame_room, sizeof(*self->frames)))
		return PATH_NONE;
	entry = table_make(&self->numbers, (uint64_t)frame->module << 32 | frame->function,
			   frame->line, &is_new);
	if (!entry)
		return PATH_NONE;
	if (is_new) {
		entry->value = self->frame_count;
		self->frames[self->frame_count++] = *frame;
	}
	return call_tree_child(&self->tree, parent, TREE_FUNCTION, (uint32_t)entry->value);
}

/* Entries before it that never arrived are lost. */
static int list_fill(uint32_t **list, size_t *count, size_t *room, uint32_t until)
{
	while (*count < until) {
		if (*count >= OF_NODE_MAX || make_room(list, *count, room, sizeof(**list)))
			return -ENOMEM;
		(*list)[(*count)++] = PATH_NONE;
	}
	return 0;
}

static int text_take(struct call_paths *self, struct path_map *map, const char *text)
{
	uint32_t number = pool_add(&self->texts, text);

	if (number == POOL_NONE || list_fill(&map->texts, &map->text_count, &map->text_room,
					     (uint32_t)map->text_count + 1))
		return -ENOMEM;
	map->texts[map->text_count - 1] = number;
	return 0;
}

static uint32_t number_at(const uint32_t *list, size_t count, uint32_t index)
{
	return index < count ? list[index] : PATH_NONE;
}

static int node_take(struct call_paths *self, struct path_map *map, const struct frame_node *node)
{
	uint32_t parent = node->parent == FRAME_ROOT ? 0 : path_map_find(map, node->parent);
	const struct path_frame frame = {
		.function = number_at(map->texts, map->text_count, node->function),
		.module = number_at(map->texts, map->text_count, node->module),
		.file = number_at(map->texts, map->text_count, node->file),
		.line = node->line,
		.kind = (enum frame_kind)node->kind,
	};
	bool is_lost = parent == PATH_NONE || frame.function == PATH_NONE ||
		       frame.module == PATH_NONE || frame.file == PATH_NONE ||
		       (parent && self->tree.nodes[parent].depth >= DEPTH_MAX);
	uint32_t path = is_lost ? PATH_NONE : call_paths_find(self, parent, &frame);

	if ((!is_lost && path == PATH_NONE) ||
	    list_fill(&map->paths, &map->path_count, &map->path_room,
		      (uint32_t)map->path_count + 1))
		return -ENOMEM;
	map->paths[map->path_count - 1] = path;
	return 0;
}

int call_paths_take(struct call_paths *self, struct path_map *map, struct frames_message *frames)
{
	struct frame_node node;
	const char *text;

	if (frames->first_text < map->text_count || frames->first_node < map->path_count ||
	    frames->first_text > OF_NODE_MAX || frames->first_node > OF_NODE_MAX)
		return 0;
	if (list_fill(&map->texts, &map->text_count, &map->text_room, frames->first_text) ||
	    list_fill(&map->paths, &map->path_count, &map->path_room, frames->first_node))
		return -ENOMEM;
	for (uint32_t i = 0; i < frames->text_count; i++) {
		if (!frames_take_text(frames, &text) || map->text_count >= OF_NODE_MAX)
			return 0;
		if (text_take(self, map, text))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < frames->node_count; i++) {
		if (!frames_take_node(frames, &node) || map->path_count >= OF_NODE_MAX)
			return 0;
		if (node_take(self, map, &node))
			return -ENOMEM;
	}
	return 0;
}

uint32_t path_map_find(const struct path_map *map, uint32_t number)
{
	return number_at(map->paths, map->path_count, number);
}

void call_paths_done(struct call_paths *self)
{
	pool_done(&self->texts);
	call_tree_done(&self->tree);
	free(self->frames);
	table_done(&self->numbers);
	*self = (struct call_paths){ 0 };
}

void path_map_done(struct path_map *map)
{
	free(map->texts);
	free(map->paths);
	*map = (struct path_map){ 0 };
}

/*
 * A tree of names with one or two weights for each node: for data without a tree of samples (two
 * ranges side by side, device time, memory).
 */
#pragma once

#include "host/core/table.h"
#include "host/ui/columns.h"

#define NAME_TREE_NONE  UINT32_MAX
#define NAME_TREE_SIDES 2u

/* As in the column "type" of docs/ui-api.md. */
enum flame_type {
	FLAME_ROOT,
	FLAME_THREAD,
	FLAME_INCOMPLETE,
	FLAME_FUNCTION,
	FLAME_TRIMMED,
	FLAME_UNNAMED,
};

struct name_node {
	uint32_t parent, name, module, line, file;
	enum flame_type type;
	uint32_t first, next; /* child; sibling: the heaviest first */
	double self[NAME_TREE_SIDES], total[NAME_TREE_SIDES];
	double count[NAME_TREE_SIDES], total_count[NAME_TREE_SIDES]; /* of samples, calls */
};

struct name_tree {
	struct name_node *nodes; /* 0 is the root; parents before their children */
	size_t count, room;
	struct pool names;
	struct table children;
	double trimmed; /* of the first side, in the part written */
	uint64_t trimmed_nodes;
};

/* 0 or -ENOMEM. */
int name_tree_init(struct name_tree *ret) MUST_CHECK;
void name_tree_done(struct name_tree *tree);

static inline void name_tree_done_at_scope_end(struct name_tree *tree)
{
	name_tree_done(tree);
}

/* The child of this name, made when it is not there; NAME_TREE_NONE: no memory. */
uint32_t name_tree_child(struct name_tree *tree, uint32_t parent, enum flame_type type,
			 const char *name, const char *module);

/* Adds up, and writes the columns of a flame graph with so many sides; nodes below half a pixel on
 * all of them are summed up.  0 or -ENOMEM. */
int name_tree_write(struct name_tree *tree, struct columns *columns, unsigned sides,
		    uint32_t width) MUST_CHECK;

/*
 * Call trees as tables: flame graphs of one range, or of two beside each other.
 */
#pragma once

#include "host/model/samples/call_tree.h"
#include "host/ui/reply/columns.h"

/* As in the column "type" of docs/ui-api.md. */
enum flame_type {
	FLAME_ROOT,
	FLAME_THREAD,
	FLAME_INCOMPLETE,
	FLAME_FUNCTION,
	FLAME_TRIMMED,
	FLAME_UNNAMED,
};

/* What a node is called. */
struct flame_name {
	const char *name, *module, *file; /* name: until the next call */
	uint32_t line;
	enum flame_type type;
	enum frame_language language; /* of functions */
};

struct flame_table {
	const struct call_tree *tree;
	void (*name)(const struct flame_table *self, const struct tree_node *node,
		     struct flame_name *ret);
	void *context;
	/* Set by flame_table_write(). */
	unsigned languages;              /* bits of those written; of one range */
	uint64_t trimmed, trimmed_nodes; /* of the first side */
};

/* Nodes below half a pixel on all sides are summed up; width 0: none are.  0 or -ENOMEM. */
int flame_table_write(struct flame_table *table, struct columns *columns,
		      uint32_t width) MUST_CHECK;

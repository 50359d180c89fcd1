/*
 * A call tree with the time under each call: all stacks, merged from the root.
 */
#pragma once

#include "host/model/samples/frame_languages.h"
#include "host/model/samples/profile.h"

enum tree_kind {
	TREE_ALL,        /* the root */
	TREE_THREAD,     /* value: its number */
	TREE_INCOMPLETE, /* below it, outer callers are missing */
	TREE_FUNCTION,   /* value: its number */
	TREE_PROCESS,    /* value: its number */
};

#define TREE_NONE UINT32_MAX

struct tree_node {
	enum tree_kind kind;
	uint32_t value;
	uint32_t parent;      /* TREE_NONE of the root */
	uint32_t first, next; /* child; sibling: the heaviest first; TREE_NONE */
	uint32_t depth;
	uint32_t location; /* of a function: one of its locations in the source */
	uint64_t self_ns, total_ns, self_count, total_count;
};

struct call_tree {
	struct model *model;
	struct tree_node *nodes; /* 0 is the root; parents before their children */
	size_t count, room;
	uint32_t depth;     /* of the deepest node */
	uint32_t *of_entry; /* the node of each entry of the profile */
};

struct call_tree_options {
	bool is_inverted;   /* from the innermost function to its callers */
	bool is_by_thread;  /* threads are the first level; the profile must distinguish them */
	bool is_by_process; /* the same of processes */
};

int call_tree_build(struct call_tree *ret, struct model *model, const struct profile *profile,
		    const struct call_tree_options *options) MUST_CHECK;
void call_tree_done(struct call_tree *tree);

/* Links the children of nodes that the caller has added: parents before their children, with their
 * weights. */
int call_tree_link(struct call_tree *tree) MUST_CHECK;

/* The same for nodes with samples; those below least_ns are last, unsorted: a graph does not show
 * them, and sorting is expensive. */
int call_tree_link_seen(struct call_tree *tree, uint64_t least_ns) MUST_CHECK;

/* Totals from each node's own weight. */
void call_tree_add_up(struct call_tree *tree);

static inline void call_tree_done_at_scope_end(struct call_tree *tree)
{
	call_tree_done(tree);
}

/* The name of a node. */
void call_tree_name(const struct call_tree *tree, const struct tree_node *node, char *ret,
		    size_t room);

/* The name of a function as it is, else NULL. */
const struct sample_function *call_tree_function(const struct call_tree *tree,
						 const struct tree_node *node);
/* The language of a node that is a function. */
enum frame_language call_tree_language(const struct call_tree *tree, const struct tree_node *node);

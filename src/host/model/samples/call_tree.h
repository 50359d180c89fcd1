/*
 * The call tree: all stacks merged from the root.  The one type of every view of stacks.  The
 * metrics of a node are an array with an entry for each side: one side of a recording, or of a
 * range of it; two where recordings or ranges are compared.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/table.h"
#include "host/model/samples/frame_languages.h"
#include "host/model/samples/profile.h"

enum tree_kind {
	TREE_ALL,        /* the root */
	TREE_THREAD,     /* value: its number */
	TREE_INCOMPLETE, /* below it, outer callers are missing */
	TREE_FUNCTION,   /* value: its number */
	TREE_PROCESS,    /* value: its number */
};

#define TREE_NONE      UINT32_MAX
#define TREE_SIDES_MAX 2u

/* The whole of a comparison, for call_tree_weight(). */
#define TREE_WHOLE 1000000000000u

struct tree_node {
	enum tree_kind kind;
	uint32_t value;
	uint32_t parent;      /* TREE_NONE of the root */
	uint32_t first, next; /* child; sibling: the heaviest first; TREE_NONE */
	uint32_t depth;
	uint32_t location; /* of a function: one of its locations in the source */
};

struct tree_metrics {
	uint64_t self_ns, total_ns, self_count, total_count;
};

struct call_tree {
	struct model
		*model; /* values are numbers of its functions and threads; NULL: the owner's */
	unsigned sides;
	struct tree_node *nodes;      /* 0 is the root; parents before their children */
	struct tree_metrics *metrics; /* `sides` for each node; there may be none */
	size_t count, room, metric_room;
	uint32_t depth;        /* of the deepest node */
	struct table children; /* (parent, kind and value): node */
	/* By side, the node of each stack, see call_tree_place(); 0: not looked for yet. */
	uint32_t *of_stack[TREE_SIDES_MAX];
	size_t stack_room[TREE_SIDES_MAX];
};

struct call_tree_options {
	bool is_inverted;   /* from the innermost function to its callers */
	bool is_by_thread;  /* threads are the first level; the profile must distinguish them */
	bool is_by_process; /* the same of processes */
};

/* Where stacks of one side come from. */
struct tree_source {
	struct model *model;
	const uint32_t *functions; /* the values of the model's functions; NULL: their numbers */
	struct call_tree_options options;
	unsigned side;
};

/* A tree that has the root only; sides: 0 where metrics are kept elsewhere.  0 or -ENOMEM, as for
 * all that follow. */
int call_tree_init(struct call_tree *ret, unsigned sides) MUST_CHECK;
void call_tree_done(struct call_tree *tree);

DEFINE_STRUCT_CLEANUP(call_tree, call_tree_done)

/* The child of this kind and value, made if it is missing; TREE_NONE: no memory. */
uint32_t call_tree_child(struct call_tree *tree, uint32_t parent, enum tree_kind kind,
			 uint32_t value);

static inline struct tree_metrics *call_tree_metrics(const struct call_tree *tree, uint32_t node,
						     unsigned side)
{
	return &tree->metrics[(size_t)node * tree->sides + side];
}

static inline uint32_t call_tree_number(const struct call_tree *tree, const struct tree_node *node)
{
	return (uint32_t)(node - tree->nodes);
}

/* The node where a stack ends, made if it is missing.  Each stack is looked up once: the tree of a
 * store grows with its stacks. */
int call_tree_place(struct call_tree *tree, const struct tree_source *source,
		    const struct profile_entry *entry, uint32_t *ret) MUST_CHECK;
/* Adds the entries of a profile to their nodes.  of_entry: gets the node of each; NULL. */
int call_tree_add(struct call_tree *tree, const struct tree_source *source,
		  const struct profile *profile, uint32_t *of_entry) MUST_CHECK;
/* Totals from the nodes' own metrics, then links children, the heaviest first.  Nodes lighter than
 * `least` are last and unsorted: a graph does not show them, and sorting is expensive. */
int call_tree_finish(struct call_tree *tree, uint64_t least) MUST_CHECK;

/* Links a node before the siblings that are linked already: call it for the lightest first. */
void call_tree_link(struct call_tree *tree, uint32_t node);

/* The tree of one profile. */
int call_tree_build(struct call_tree *ret, struct model *model, const struct profile *profile,
		    const struct call_tree_options *options) MUST_CHECK;

/* The same tree by those nodes of `shape` (zero is empty) that the profile has: stacks are looked
 * up once.  `shape` grows by the stacks that it lacks. */
int call_tree_weigh(struct call_tree *shape, const struct tree_source *source,
		    const struct profile *profile, uint64_t least,
		    struct call_tree *ret) MUST_CHECK;

/* What a node is sorted and drawn by: its total, or of two sides the mean of its shares, in parts
 * of TREE_WHOLE. */
uint64_t call_tree_weight(const struct call_tree *tree, uint32_t node);

/* Depth first: the sibling of this node, or of the nearest one above it that has one; TREE_NONE. */
uint32_t call_tree_after(const struct call_tree *tree, uint32_t node);

/* The name of a node, where there is a model. */
void call_tree_name(const struct call_tree *tree, const struct tree_node *node, char *ret,
		    size_t room);

/* The name of a function as it is, else NULL. */
const struct sample_function *call_tree_function(const struct call_tree *tree,
						 const struct tree_node *node);
/* The language of a node that is a function. */
enum frame_language call_tree_language(const struct call_tree *tree, const struct tree_node *node);

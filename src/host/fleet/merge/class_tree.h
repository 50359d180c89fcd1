/*
 * The tree of calls with classes of ranks: each call, a function with its current line, with the
 * ranks that are in it, the largest class first.  Chains of calls that all have the same ranks are
 * one line.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/merge/fleet_dump.h"

/* The metrics of a call. */
struct class_node {
	struct rank_set ranks; /* in this call or below */
	uint64_t threads;
	uint64_t ends;                     /* threads whose innermost call it is, */
	size_t first_end;                  /* the first of them in the tree's ends, */
	const struct seen_thread *example; /* one of them, */
	bool is_mixed;                     /* their states or system calls differ */
};

struct class_tree {
	const struct call_paths *paths;
	struct call_tree calls;          /* of the paths; children with more ranks are first */
	struct class_node *nodes;        /* by path */
	const struct seen_thread **ends; /* by innermost call, node and rank */
	size_t end_count;
	size_t range_count;
};

enum class_threads {
	CLASS_MAIN, /* the first thread of each rank's process */
	CLASS_OTHERS,
	CLASS_THREADS,
};

/* For one round.  -ENOMEM; -E2BIG: too many classes to be useful. */
int class_tree_build(struct class_tree *ret, const struct fleet_dump *dump, uint32_t round,
		     enum class_threads which) MUST_CHECK;
void class_tree_done(struct class_tree *tree);

/* The outermost call with the most ranks; PATH_NONE: there is none. */
static inline uint32_t class_tree_first(const struct class_tree *tree)
{
	return tree->calls.count ? tree->calls.nodes[0].first : PATH_NONE;
}

DEFINE_STRUCT_CLEANUP(class_tree, class_tree_done)

/* The last call of the chain that begins here: each is the only child of the one before, with the
 * same ranks and threads. */
uint32_t class_tree_chain(const struct class_tree *tree, uint32_t node);

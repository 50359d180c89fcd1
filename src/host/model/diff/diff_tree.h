/*
 * The call trees of two recordings, laid upon each other.
 */
#pragma once

#include "host/model/diff/comparison.h"
#include "host/model/samples/call_tree.h"

/* The whole of a recording in `total_ns` of the tree. */
#define DIFF_WHOLE 1000000000000u

struct diff_tree {
	/* Values of functions are indexes in the comparison; `total_ns` is the mean of both shares,
	 * so that parts of only one of them are visible, too.  It has no model. */
	struct call_tree tree;
	struct compared_part (*parts)[SIDES]; /* of each node */
	size_t part_room;
	uint32_t *of_entry[SIDES]; /* the node of each entry of the profiles */
};

/* profiles: of A and of B, as they are to be laid upon each other.  0 or -ENOMEM. */
int diff_tree_build(struct diff_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES]) MUST_CHECK;
void diff_tree_done(struct diff_tree *tree);

/* The name of a node. */
const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node);

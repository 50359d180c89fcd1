/*
 * The call trees of two recordings, laid upon each other.
 */
#pragma once

#include "host/model/diff/comparison.h"
#include "host/model/samples/call_tree.h"

/* Values of functions are indexes in the comparison; the tree has no model.  profiles: of A and of
 * B, as they are to be laid upon each other.  of_entry: gets the nodes of their entries, to be
 * freed; NULL.  0 or -ENOMEM. */
int diff_tree_build(struct call_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES],
		    uint32_t *of_entry[SIDES]) MUST_CHECK;

/* The name of a node. */
const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node);

/*
 * The call tree of a whole recording, built once: for a range only the weights are filled in, so
 * that a flame graph costs as much as its range.
 */
#pragma once

#include "host/model/samples/call_tree.h"
#include "host/ui/store/slice.h"

/* Zero is none yet. */
struct stack_tree {
	struct call_tree whole;
	uint32_t *of_entry; /* node by stack and one, and by whether its end was reached */
};

/* Of all samples of the slice; done once. */
int stack_tree_build(struct stack_tree *tree, const struct slice *all, bool is_inverted) MUST_CHECK;
void stack_tree_done(struct stack_tree *tree);

/* The tree with the weights of a profile, equal to call_tree_build()'s except for nodes without
 * weight; siblings lighter than `least_ns` are last and unsorted. */
int stack_tree_weigh(const struct stack_tree *tree, const struct profile *profile,
		     uint64_t least_ns, struct call_tree *ret) MUST_CHECK;

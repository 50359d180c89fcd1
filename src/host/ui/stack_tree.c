/*
 * Builds and weighs the tree of a recording.
 */
#include "host/ui/stack_tree.h"

#include "host/core/cleanup.h"
#include "host/ui/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t cell_of(const struct profile_entry *entry)
{
	return (size_t)(entry->stack + 1u) * 2 + (entry->end != STACK_COMPLETE);
}

static void weights_clear(struct call_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct tree_node *node = &tree->nodes[i];

		node->self_ns = node->total_ns = node->self_count = node->total_count = 0;
		node->first = node->next = TREE_NONE;
	}
}

/* Which stacks there are, without what they weigh: adding that up takes ten times as long. */
static int stacks_find(const struct slice *all, size_t cells, struct profile *ret)
{
	CLEANUP(free) bool *is_there = calloc(cells, sizeof(*is_there));
	size_t count = 0;

	if (!is_there)
		return -ENOMEM;
	for (size_t i = 0; i < all->count; i++)
		is_there[store_stack_cell(&all->items[i])] = true;
	for (size_t i = 0; i < cells; i++)
		count += is_there[i];
	*ret = (struct profile){ .samples = all->model->samples,
				 .entries = calloc(count + 1, sizeof(*ret->entries)) };
	for (size_t i = 0; ret->entries && i < cells; i++)
		if (is_there[i])
			ret->entries[ret->count++] =
				(struct profile_entry){ .thread = THREAD_NONE,
							.stack = (uint32_t)(i / 2) - 1u,
							.end = i % 2 ? STACK_CUT : STACK_COMPLETE };
	return ret->entries ? 0 : -ENOMEM;
}

int stack_tree_build(struct stack_tree *self, const struct slice *all, bool is_inverted)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	const struct call_tree_options options = { .is_inverted = is_inverted };
	size_t cells = (all->model->samples->stack_count + 1) * 2;
	int r;

	if (self->of_entry)
		return 0;
	r = stacks_find(all, cells, &profile);
	if (!r)
		r = call_tree_build(&self->whole, all->model, &profile, &options);
	self->of_entry = r ? NULL : calloc(cells, sizeof(*self->of_entry));
	if (!self->of_entry) {
		stack_tree_done(self);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile.count; i++)
		self->of_entry[cell_of(&profile.entries[i])] = self->whole.of_entry[i];
	weights_clear(&self->whole);
	return 0;
}

void stack_tree_done(struct stack_tree *tree)
{
	call_tree_done(&tree->whole);
	free(tree->of_entry);
	*tree = (struct stack_tree){ 0 };
}

/* Children come after their parents. */
static void totals_add(struct call_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct tree_node *node = &tree->nodes[i];

		node->total_ns += node->self_ns;
		node->total_count += node->self_count;
		if (!i)
			continue;
		tree->nodes[node->parent].total_ns += node->total_ns;
		tree->nodes[node->parent].total_count += node->total_count;
	}
}

static void child_link(struct call_tree *tree, uint32_t number)
{
	struct tree_node *node = &tree->nodes[number];

	node->next = tree->nodes[node->parent].first;
	tree->nodes[node->parent].first = number;
}

struct weighed {
	uint64_t total_ns;
	uint32_t node;
};

static int by_weight(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? -1 : 1;
	return a->node > b->node ? -1 : a->node < b->node;
}

/* Only what is seen is sorted. */
static int children_link(struct call_tree *tree, uint64_t least_ns)
{
	CLEANUP(free) struct weighed *wide = calloc(tree->count, sizeof(*wide));
	size_t count = 0;

	if (!wide)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->count; i++) {
		if (!tree->nodes[i].total_count)
			continue;
		if (tree->nodes[i].total_ns < least_ns)
			child_link(tree, i);
		else
			wide[count++] = (struct weighed){ tree->nodes[i].total_ns, i };
	}
	qsort(wide, count, sizeof(*wide), by_weight);
	for (size_t i = 0; i < count; i++)
		child_link(tree, wide[i].node);
	return 0;
}

int stack_tree_weigh(const struct stack_tree *self, const struct profile *profile,
		     uint64_t least_ns, struct call_tree *ret)
{
	*ret = (struct call_tree){ .model = self->whole.model,
				   .nodes = calloc(self->whole.count, sizeof(*ret->nodes)),
				   .count = self->whole.count,
				   .depth = self->whole.depth };
	if (!ret->nodes)
		return -ENOMEM;
	memcpy(ret->nodes, self->whole.nodes, ret->count * sizeof(*ret->nodes));
	for (size_t i = 0; i < profile->count; i++) {
		struct tree_node *node = &ret->nodes[self->of_entry[cell_of(&profile->entries[i])]];

		node->self_ns += profile->entries[i].weight_ns;
		node->self_count += profile->entries[i].count;
	}
	totals_add(ret);
	return children_link(ret, least_ns);
}

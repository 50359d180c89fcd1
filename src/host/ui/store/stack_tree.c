/*
 * Builds and weighs the tree of a recording.
 */
#include "host/ui/store/stack_tree.h"

#include "host/core/cleanup.h"
#include "host/ui/store/store.h"

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

/* Finds the stacks without their weights: adding those up takes ten times as long. */
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
	call_tree_add_up(ret);
	return call_tree_link_seen(ret, least_ns);
}

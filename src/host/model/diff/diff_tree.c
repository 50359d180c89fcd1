/*
 * Lays call trees upon each other.
 */
#include "host/model/diff/diff_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"

struct laying {
	struct diff_tree *diff;
	const struct comparison *comparison;
	struct table children; /* (parent, kind and value): node */
};

static int add_node(struct diff_tree *diff, const struct tree_node *node)
{
	struct call_tree *tree = &diff->tree;

	if (tree->count >= TREE_NONE ||
	    make_room(&tree->nodes, tree->count, &tree->room, sizeof(*tree->nodes)) ||
	    make_room(&diff->parts, tree->count, &diff->part_room, sizeof(*diff->parts)))
		return -ENOMEM;
	for (unsigned i = 0; i < SIDES; i++)
		diff->parts[tree->count][i] = (struct compared_part){ 0 };
	tree->nodes[tree->count++] = *node;
	tree->depth = MAX(tree->depth, node->depth);
	return 0;
}

/* The node that stands for one of a side, made when it is not there. */
static int find_node(struct laying *self, const struct tree_node *node, uint32_t value,
		     uint32_t parent, uint32_t *ret)
{
	const struct tree_node made = {
		.kind = node->kind,
		.value = value,
		.parent = parent,
		.first = TREE_NONE,
		.next = TREE_NONE,
		.depth = parent == TREE_NONE ? 0 : self->diff->tree.nodes[parent].depth + 1,
	};
	bool is_new;
	struct table_entry *entry =
		table_make(&self->children, parent, (uint64_t)node->kind << 32 | value, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new)
		entry->value = self->diff->tree.count;
	*ret = (uint32_t)entry->value;
	return is_new ? add_node(self->diff, &made) : 0;
}

/* indexes: of each node of the side's own tree, in which parents come first. */
static int lay_nodes(struct laying *self, const struct call_tree *tree, enum side side,
		     uint32_t *indexes)
{
	const uint32_t *functions = self->comparison->sides[side].functions;

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		uint32_t value = node->kind == TREE_FUNCTION ? functions[node->value] : node->value;
		uint32_t parent = node->parent == TREE_NONE ? TREE_NONE : indexes[node->parent];
		struct compared_part *part;

		if (find_node(self, node, value, parent, &indexes[i]))
			return -ENOMEM;
		part = &self->diff->parts[indexes[i]][side];
		part->self_ns += node->self_ns;
		part->total_ns += node->total_ns;
		part->self_count += node->self_count;
		part->total_count += node->total_count;
	}
	return 0;
}

static int lay_tree(struct laying *self, const struct call_tree *tree,
		    const struct profile *profile, enum side side)
{
	uint32_t *indexes = calloc(tree->count + 1, sizeof(*indexes));
	uint32_t *of_entry = calloc(profile->count + 1, sizeof(*of_entry));
	int r = indexes && of_entry ? lay_nodes(self, tree, side, indexes) : -ENOMEM;

	self->diff->of_entry[side] = of_entry;
	for (size_t i = 0; !r && i < profile->count; i++)
		of_entry[i] = indexes[tree->of_entry[i]];
	free(indexes);
	return r;
}

static int lay_side(struct laying *self, const struct profile *profile, enum side side)
{
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	struct model *model = self->comparison->sides[side].model;
	const struct call_tree_options options = { 0 };

	if (call_tree_build(&tree, model, profile, &options))
		return -ENOMEM;
	return lay_tree(self, &tree, profile, side);
}

static double node_share(const struct diff_tree *diff, size_t node, enum side side)
{
	uint64_t all = diff->parts[0][side].total_ns;

	return all ? (double)diff->parts[node][side].total_ns / (double)all : 0;
}

/* A side without samples has no share in the widths. */
static void diff_tree_weigh(struct diff_tree *diff)
{
	double sides = node_share(diff, 0, SIDE_A) + node_share(diff, 0, SIDE_B);

	for (size_t i = 0; sides > 0 && i < diff->tree.count; i++)
		diff->tree.nodes[i].total_ns =
			(uint64_t)MIN((node_share(diff, i, SIDE_A) + node_share(diff, i, SIDE_B)) /
					      sides * DIFF_WHOLE,
				      (double)DIFF_WHOLE);
}

int diff_tree_build(struct diff_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES])
{
	struct laying self = { .diff = ret, .comparison = comparison };
	int r = 0;

	*ret = (struct diff_tree){ 0 };
	for (unsigned i = 0; !r && i < SIDES; i++)
		r = lay_side(&self, profiles[i], i);
	table_done(&self.children);
	if (r)
		return r;
	diff_tree_weigh(ret);
	return call_tree_link(&ret->tree);
}

void diff_tree_done(struct diff_tree *tree)
{
	call_tree_done(&tree->tree);
	free(tree->parts);
	for (unsigned i = 0; i < SIDES; i++)
		free(tree->of_entry[i]);
	*tree = (struct diff_tree){ 0 };
}

const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node)
{
	if (node->kind == TREE_FUNCTION)
		return comparison->functions[node->value].name;
	return node->kind == TREE_ALL ? "all" : "[incomplete stack]";
}

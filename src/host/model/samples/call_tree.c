/*
 * Builds call trees.
 */
#include "host/model/samples/call_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"

struct builder {
	struct call_tree *tree;
	const struct profile *profile;
	const struct call_tree_options *options;
	struct table children; /* (parent, kind and value): node */
};

static int add_node(struct call_tree *tree, const struct tree_node *node)
{
	int r = make_room(&tree->nodes, tree->count, &tree->room, sizeof(*tree->nodes));

	if (r || tree->count >= TREE_NONE)
		return -ENOMEM;
	tree->nodes[tree->count++] = *node;
	tree->depth = MAX(tree->depth, node->depth);
	return 0;
}

/* Descends to the child of this kind and value, made if missing. */
static int call_tree_descend(struct builder *self, uint32_t *node, enum tree_kind kind,
			     uint32_t value, uint32_t location)
{
	struct tree_node child = { .kind = kind,
				   .value = value,
				   .parent = *node,
				   .first = TREE_NONE,
				   .next = TREE_NONE,
				   .depth = self->tree->nodes[*node].depth + 1,
				   .location = location };
	bool is_new;
	struct table_entry *entry =
		table_make(&self->children, *node, (uint64_t)kind << 32 | value, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->tree->count;
		if (add_node(self->tree, &child))
			return -ENOMEM;
	}
	*node = (uint32_t)entry->value;
	return 0;
}

static int descend_location(struct builder *self, uint32_t *node, uint32_t location)
{
	return call_tree_descend(self, node, TREE_FUNCTION,
				 self->profile->samples->locations[location].function, location);
}

static int descend_frame(struct builder *self, uint32_t *node, uint32_t number)
{
	const struct sample_frame *frame = &self->profile->samples->frames[number];
	int r = 0;

	for (uint32_t i = 0; !r && i < frame->location_count; i++)
		r = descend_location(
			self, node,
			frame->first_location +
				(self->options->is_inverted ? i : frame->location_count - 1 - i));
	return r;
}

static int add_entry(struct builder *self, const struct profile_entry *entry, uint32_t *ret)
{
	uint32_t frames[STACK_DEPTH_MAX], node = 0;
	size_t count = stack_frames(self->profile->samples, entry->stack, frames);
	bool is_incomplete = entry->end != STACK_COMPLETE;
	int r = 0;

	if (self->options->is_by_process)
		r = call_tree_descend(self, &node, TREE_PROCESS,
				      self->tree->model->threads[entry->thread]->process->number,
				      0);
	if (!r && self->options->is_by_thread)
		r = call_tree_descend(self, &node, TREE_THREAD, entry->thread, 0);
	if (!r && is_incomplete && !self->options->is_inverted)
		r = call_tree_descend(self, &node, TREE_INCOMPLETE, 0, 0);
	for (size_t i = 0; !r && i < count; i++)
		r = descend_frame(self, &node,
				  frames[self->options->is_inverted ? i : count - 1 - i]);
	if (!r && is_incomplete && self->options->is_inverted)
		r = call_tree_descend(self, &node, TREE_INCOMPLETE, 0, 0);
	self->tree->nodes[node].self_ns += entry->weight_ns;
	self->tree->nodes[node].self_count += entry->count;
	*ret = node;
	return r;
}

/* Children are stored after their parents. */
void call_tree_add_up(struct call_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct tree_node *node = &tree->nodes[i];

		node->total_ns += node->self_ns;
		node->total_count += node->self_count;
		if (node->parent == TREE_NONE)
			continue;
		tree->nodes[node->parent].total_ns += node->total_ns;
		tree->nodes[node->parent].total_count += node->total_count;
	}
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

/* In front of the existing siblings. */
static void child_link(struct call_tree *tree, uint32_t number)
{
	struct tree_node *node = &tree->nodes[number];

	if (node->parent == TREE_NONE)
		return;
	node->next = tree->nodes[node->parent].first;
	tree->nodes[node->parent].first = number;
}

/* Sorts, and puts each before its siblings that are lighter. */
static void children_link(struct call_tree *tree, struct weighed *order, size_t count)
{
	qsort(order, count, sizeof(*order), by_weight);
	for (size_t i = 0; i < count; i++)
		child_link(tree, order[i].node);
}

int call_tree_link(struct call_tree *tree)
{
	CLEANUP(free) struct weighed *order = calloc(tree->count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->count; i++)
		order[i] = (struct weighed){ tree->nodes[i].total_ns, i };
	children_link(tree, order, tree->count);
	return 0;
}

int call_tree_link_seen(struct call_tree *tree, uint64_t least_ns)
{
	CLEANUP(free) struct weighed *wide = calloc(tree->count, sizeof(*wide));
	size_t count = 0;

	if (!wide)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->count; i++) {
		if (!tree->nodes[i].total_count)
			continue;
		if (tree->nodes[i].total_ns < least_ns)
			child_link(tree, i);
		else
			wide[count++] = (struct weighed){ tree->nodes[i].total_ns, i };
	}
	children_link(tree, wide, count);
	return 0;
}

int call_tree_build(struct call_tree *ret, struct model *model, const struct profile *profile,
		    const struct call_tree_options *options)
{
	struct builder self = { .tree = ret, .profile = profile, .options = options };
	const struct tree_node root = {
		.kind = TREE_ALL, .parent = TREE_NONE, .first = TREE_NONE, .next = TREE_NONE
	};
	int r;

	*ret = (struct call_tree){ .model = model };
	ret->of_entry = calloc(profile->count + 1, sizeof(*ret->of_entry));
	r = ret->of_entry ? add_node(ret, &root) : -ENOMEM;
	for (size_t i = 0; !r && i < profile->count; i++)
		r = add_entry(&self, &profile->entries[i], &ret->of_entry[i]);
	table_done(&self.children);
	if (r)
		return r;
	call_tree_add_up(ret);
	return call_tree_link(ret);
}

void call_tree_done(struct call_tree *tree)
{
	free(tree->nodes);
	free(tree->of_entry);
	*tree = (struct call_tree){ 0 };
}

const struct sample_function *call_tree_function(const struct call_tree *tree,
						 const struct tree_node *node)
{
	return node->kind == TREE_FUNCTION ? &tree->model->samples->functions[node->value] : NULL;
}

enum frame_language call_tree_language(const struct call_tree *tree, const struct tree_node *node)
{
	const struct samples *samples = tree->model->samples;
	const struct sample_code *code = &samples->codes[samples->functions[node->value].code];

	return frame_language(code->kind, code->path);
}

void call_tree_name(const struct call_tree *tree, const struct tree_node *node, char *ret,
		    size_t room)
{
	switch (node->kind) {
	case TREE_ALL:
		snprintf(ret, room, "all");
		break;
	case TREE_THREAD:
		thread_title(tree->model, tree->model->threads[node->value], ret, room);
		break;
	case TREE_INCOMPLETE:
		snprintf(ret, room, "[incomplete stack]");
		break;
	case TREE_PROCESS:
		process_title(tree->model->processes[node->value], ret, room);
		break;
	case TREE_FUNCTION:
		snprintf(ret, room, "%s", call_tree_function(tree, node)->name);
		break;
	}
}

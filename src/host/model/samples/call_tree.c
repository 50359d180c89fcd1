/*
 * Builds call trees.
 */
#include "host/model/samples/call_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"

static int add_node(struct call_tree *tree, const struct tree_node *node)
{
	size_t first = tree->count * tree->sides;

	for (size_t i = first; i < first + tree->sides; i++)
		if (make_room(&tree->metrics, i, &tree->metric_room, sizeof(*tree->metrics)))
			return -ENOMEM;
	if (tree->count >= TREE_NONE ||
	    make_room(&tree->nodes, tree->count, &tree->room, sizeof(*tree->nodes)))
		return -ENOMEM;
	for (unsigned side = 0; side < tree->sides; side++)
		tree->metrics[first + side] = (struct tree_metrics){ 0 };
	tree->nodes[tree->count++] = *node;
	tree->depth = MAX(tree->depth, node->depth);
	return 0;
}

int call_tree_init(struct call_tree *ret, unsigned sides)
{
	*ret = (struct call_tree){ .sides = sides };
	return add_node(ret, &(struct tree_node){ .kind = TREE_ALL,
						  .parent = TREE_NONE,
						  .first = TREE_NONE,
						  .next = TREE_NONE });
}

void call_tree_done(struct call_tree *tree)
{
	free(tree->nodes);
	free(tree->metrics);
	table_done(&tree->children);
	for (unsigned side = 0; side < TREE_SIDES_MAX; side++)
		free(tree->of_stack[side]);
	*tree = (struct call_tree){ 0 };
}

uint32_t call_tree_child(struct call_tree *tree, uint32_t parent, enum tree_kind kind,
			 uint32_t value)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&tree->children, parent, (uint64_t)kind << 32 | value, &is_new);

	if (!entry)
		return TREE_NONE;
	if (is_new) {
		entry->value = tree->count;
		if (add_node(tree, &(struct tree_node){ .kind = kind,
							.value = value,
							.parent = parent,
							.first = TREE_NONE,
							.next = TREE_NONE,
							.depth = tree->nodes[parent].depth + 1 })) {
			table_remove(&tree->children, entry);
			return TREE_NONE;
		}
	}
	return (uint32_t)entry->value;
}

/* Descends to a child; 0 or -ENOMEM. */
static int node_descend(struct call_tree *tree, uint32_t *node, enum tree_kind kind, uint32_t value)
{
	*node = call_tree_child(tree, *node, kind, value);
	return *node == TREE_NONE ? -ENOMEM : 0;
}

static int descend_location(struct call_tree *tree, const struct tree_source *source,
			    uint32_t location, uint32_t *node)
{
	uint32_t function = source->model->samples->locations[location].function;
	size_t before = tree->count;
	int r = node_descend(tree, node, TREE_FUNCTION,
			     source->functions ? source->functions[function] : function);

	if (!r && tree->count > before)
		tree->nodes[*node].location = location;
	return r;
}

static int descend_frame(struct call_tree *tree, const struct tree_source *source, uint32_t number,
			 uint32_t *node)
{
	const struct sample_frame *frame = &source->model->samples->frames[number];
	int r = 0;

	for (uint32_t i = 0; !r && i < frame->location_count; i++)
		r = descend_location(
			tree, source,
			frame->first_location +
				(source->options.is_inverted ? i : frame->location_count - 1 - i),
			node);
	return r;
}

/* All of a stack, from `*node` on. */
static int descend_stack(struct call_tree *tree, const struct tree_source *source,
			 const struct profile_entry *entry, uint32_t *node)
{
	bool is_incomplete = entry->end != STACK_COMPLETE,
	     is_inverted = source->options.is_inverted;
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(source->model->samples, entry->stack, frames);
	int r = is_incomplete && !is_inverted ? node_descend(tree, node, TREE_INCOMPLETE, 0) : 0;

	for (size_t i = 0; !r && i < count; i++)
		r = descend_frame(tree, source, frames[is_inverted ? i : count - 1 - i], node);
	return !r && is_incomplete && is_inverted ? node_descend(tree, node, TREE_INCOMPLETE, 0)
						  : r;
}

/* From the root, or the nearest caller whose node is known, inwards. */
static int descend_callers(struct call_tree *tree, const struct tree_source *source,
			   const struct profile_entry *entry, uint32_t *ret)
{
	const struct sample_stack *stacks = source->model->samples->stacks;
	bool is_incomplete = entry->end != STACK_COMPLETE;
	uint32_t *known = tree->of_stack[source->side] + 2 + is_incomplete;
	uint32_t path[STACK_DEPTH_MAX], at = entry->stack;
	size_t count = 0;
	int r = 0;

	for (; at != STACK_NONE && count < STACK_DEPTH_MAX && !known[2 * (size_t)at];
	     at = stacks[at].caller)
		path[count++] = at;
	*ret = at != STACK_NONE ? known[2 * (size_t)at] : 0;
	if (is_incomplete && !*ret)
		r = node_descend(tree, ret, TREE_INCOMPLETE, 0);
	while (!r && count-- > 0) {
		r = descend_frame(tree, source, stacks[path[count]].frame, ret);
		known[2 * (size_t)path[count]] = r ? 0 : *ret;
	}
	return r;
}

/* Two for each stack, and for samples without one: whether the end was reached. */
static int stacks_reserve(struct call_tree *tree, const struct tree_source *source)
{
	size_t *has = &tree->stack_room[source->side];
	size_t room = (source->model->samples->stack_count + 1) * 2;
	uint32_t **of_stack = &tree->of_stack[source->side];
	uint32_t *longer = *has < room ? reallocarray(*of_stack, room, sizeof(*longer)) : *of_stack;

	if (!longer)
		return -ENOMEM;
	if (*has < room)
		memset(longer + *has, 0, (room - *has) * sizeof(*longer));
	*of_stack = longer;
	*has = MAX(*has, room);
	return 0;
}

static int place_below(struct call_tree *tree, const struct tree_source *source,
		       const struct profile_entry *entry, uint32_t *ret)
{
	const struct model_thread *thread;
	int r = 0;

	*ret = 0;
	if (source->options.is_by_process) {
		thread = source->model->threads[entry->thread];
		r = node_descend(tree, ret, TREE_PROCESS, thread->process->number);
	}
	if (!r && source->options.is_by_thread)
		r = node_descend(tree, ret, TREE_THREAD, entry->thread);
	return r ? r : descend_stack(tree, source, entry, ret);
}

int call_tree_place(struct call_tree *tree, const struct tree_source *source,
		    const struct profile_entry *entry, uint32_t *ret)
{
	const struct call_tree_options *options = &source->options;
	uint32_t *known;
	int r;

	if (options->is_by_process || options->is_by_thread)
		return place_below(tree, source, entry, ret);
	if (stacks_reserve(tree, source))
		return -ENOMEM;
	known = &tree->of_stack[source->side]
			       [(size_t)(entry->stack + 1u) * 2 + (entry->end != STACK_COMPLETE)];
	*ret = *known;
	if (*known)
		return 0;
	r = options->is_inverted ? descend_stack(tree, source, entry, ret)
				 : descend_callers(tree, source, entry, ret);
	*known = r ? 0 : *ret;
	return r;
}

int call_tree_add(struct call_tree *tree, const struct tree_source *source,
		  const struct profile *profile, uint32_t *of_entry)
{
	int r = 0;

	for (size_t i = 0; !r && i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		struct tree_metrics *metrics;
		uint32_t node;

		r = call_tree_place(tree, source, entry, &node);
		if (r)
			break;
		metrics = call_tree_metrics(tree, node, source->side);
		metrics->self_ns += entry->weight_ns;
		metrics->self_count += entry->count;
		if (of_entry)
			of_entry[i] = node;
	}
	return r;
}

/* Children are stored after their parents. */
static void add_up(struct call_tree *tree)
{
	for (uint32_t i = (uint32_t)tree->count; i-- > 0;)
		for (unsigned side = 0; side < tree->sides; side++) {
			struct tree_metrics *metrics = call_tree_metrics(tree, i, side), *parent;

			metrics->total_ns += metrics->self_ns;
			metrics->total_count += metrics->self_count;
			if (!i)
				continue;
			parent = call_tree_metrics(tree, tree->nodes[i].parent, side);
			parent->total_ns += metrics->total_ns;
			parent->total_count += metrics->total_count;
		}
}

static double side_share(const struct call_tree *tree, uint32_t node, unsigned side)
{
	uint64_t all = call_tree_metrics(tree, 0, side)->total_ns;

	return all ? (double)call_tree_metrics(tree, node, side)->total_ns / (double)all : 0;
}

/* A side without samples has no share. */
uint64_t call_tree_weight(const struct call_tree *tree, uint32_t node)
{
	double shares = 0, whole = 0;

	if (tree->sides == 1)
		return tree->metrics[node].total_ns;
	for (unsigned side = 0; side < tree->sides; side++) {
		shares += side_share(tree, node, side);
		whole += side_share(tree, 0, side);
	}
	return whole > 0 ? (uint64_t)MIN(shares / whole * TREE_WHOLE, (double)TREE_WHOLE) : 0;
}

struct weighed {
	uint64_t weight;
	uint32_t node;
};

static int by_weight(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->node > b->node ? -1 : a->node < b->node;
}

void call_tree_link(struct call_tree *tree, uint32_t number)
{
	struct tree_node *node = &tree->nodes[number], *parent = &tree->nodes[node->parent];

	node->next = parent->first;
	parent->first = number;
}

int call_tree_finish(struct call_tree *tree, uint64_t least)
{
	CLEANUP(free) struct weighed *wide = calloc(tree->count, sizeof(*wide));
	size_t count = 0;

	if (!wide)
		return -ENOMEM;
	add_up(tree);
	for (uint32_t i = 1; i < tree->count; i++) {
		uint64_t weight = call_tree_weight(tree, i);

		if (weight < least)
			call_tree_link(tree, i);
		else
			wide[count++] = (struct weighed){ weight, i };
	}
	qsort(wide, count, sizeof(*wide), by_weight);
	for (size_t i = 0; i < count; i++)
		call_tree_link(tree, wide[i].node);
	return 0;
}

int call_tree_build(struct call_tree *ret, struct model *model, const struct profile *profile,
		    const struct call_tree_options *options)
{
	const struct tree_source source = { .model = model, .options = *options };
	int r = call_tree_init(ret, /* sides */ 1);

	ret->model = model;
	if (!r)
		r = call_tree_add(ret, &source, profile, /* of_entry */ NULL);
	return r ? r : call_tree_finish(ret, /* least */ 0);
}

struct copying {
	const struct call_tree *shape;
	struct call_tree *copy;
	uint32_t *of_shape; /* the copy's number of each node, and one; 0: it is not there */
	uint32_t *path;     /* nodes from the innermost one outwards */
};

/* With its callers, as far as they are not there yet. */
static int copy_node(struct copying *self, uint32_t node, uint32_t *ret)
{
	const struct tree_node *nodes = self->shape->nodes;
	size_t count = 0;

	for (; !self->of_shape[node]; node = nodes[node].parent)
		self->path[count++] = node;
	*ret = self->of_shape[node] - 1;
	while (count-- > 0) {
		struct tree_node copy = nodes[self->path[count]];

		copy.parent = *ret;
		*ret = (uint32_t)self->copy->count;
		if (add_node(self->copy, &copy))
			return -ENOMEM;
		self->of_shape[self->path[count]] = *ret + 1;
	}
	return 0;
}

static int copy_entry(struct copying *self, const struct profile_entry *entry, uint32_t node)
{
	int r = copy_node(self, node, &node);

	if (r)
		return r;
	self->copy->metrics[node].self_ns += entry->weight_ns;
	self->copy->metrics[node].self_count += entry->count;
	return 0;
}

int call_tree_weigh(struct call_tree *shape, const struct tree_source *source,
		    const struct profile *profile, uint64_t least, struct call_tree *ret)
{
	CLEANUP(free) uint32_t *nodes = calloc(profile->count + 1, sizeof(*nodes));
	CLEANUP(free) uint32_t *of_shape = NULL;
	CLEANUP(free) uint32_t *path = NULL;
	int r = nodes ? 0 : -ENOMEM;

	if (!r && !shape->count)
		r = call_tree_init(shape, /* sides */ 1);
	for (size_t i = 0; !r && i < profile->count; i++)
		r = call_tree_place(shape, source, &profile->entries[i], &nodes[i]);
	if (!r)
		r = call_tree_init(ret, /* sides */ 1);
	ret->model = source->model;
	of_shape = r ? NULL : calloc(shape->count, sizeof(*of_shape));
	path = r ? NULL : calloc(shape->depth + 1u, sizeof(*path));
	if (!of_shape || !path)
		return -ENOMEM;
	of_shape[0] = 1;
	for (size_t i = 0; !r && i < profile->count; i++)
		r = copy_entry(&(struct copying){ shape, ret, of_shape, path },
			       &profile->entries[i], nodes[i]);
	return r ? r : call_tree_finish(ret, least);
}

uint32_t call_tree_after(const struct call_tree *tree, uint32_t node)
{
	while (node != TREE_NONE && tree->nodes[node].next == TREE_NONE)
		node = tree->nodes[node].parent;
	return node == TREE_NONE ? TREE_NONE : tree->nodes[node].next;
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

/*
 * Counts ranks at calls, and sorts children.
 */
#include "host/fleet/merge/class_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/rows.h"

#define RANGES_MAX (16u << 20) /* of ranks, for all calls together */

static bool is_counted(const struct seen_thread *thread, uint32_t round, enum class_threads which)
{
	return thread->round == round && thread->path != PATH_NONE &&
	       thread->is_first == (which == CLASS_MAIN);
}

/* Threads are sorted by rank, so that ranges only grow at their end. */
static int thread_count(struct class_tree *self, const struct seen_thread *thread)
{
	uint32_t path = thread->path;
	struct class_node *innermost = &self->nodes[path];

	if (!innermost->ends++)
		innermost->example = thread;
	else
		innermost->is_mixed |= thread->call != innermost->example->call ||
				       thread->state != innermost->example->state;
	for (; path; path = self->calls.nodes[path].parent) {
		struct class_node *node = &self->nodes[path];
		size_t before = node->ranks.count;

		node->threads++;
		if (rank_set_add(&node->ranks, thread->rank))
			return -ENOMEM;
		self->range_count += node->ranks.count > before;
		if (self->range_count > RANGES_MAX)
			return -E2BIG;
	}
	return 0;
}

static bool is_before(const struct class_node *one, const struct class_node *other)
{
	uint64_t ones = rank_set_size(&one->ranks), others = rank_set_size(&other->ranks);

	if (ones != others)
		return ones > others;
	return one->threads > other->threads;
}

/* Descending: each is linked in front of the previous ones. */
static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct class_tree *self = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	if (is_before(&self->nodes[left], &self->nodes[right]))
		return 1;
	if (is_before(&self->nodes[right], &self->nodes[left]))
		return -1;
	return left < right ? 1 : -1;
}

static int nodes_link(struct class_tree *self)
{
	uint32_t *order = calloc(self->calls.count + 1, sizeof(*order));
	size_t count = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < self->calls.count; i++)
		if (self->nodes[i].threads)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_nodes, self);
	for (size_t i = 0; i < count; i++)
		call_tree_link(&self->calls, order[i]);
	free(order);
	return 0;
}

static int compare_ends(const void *a, const void *b)
{
	const struct seen_thread *left = *(const struct seen_thread *const *)a;
	const struct seen_thread *right = *(const struct seen_thread *const *)b;

	if (left->path != right->path)
		return left->path < right->path ? -1 : 1;
	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static void ends_sort(struct class_tree *self)
{
	rows_sort(self->ends, self->end_count, sizeof(*self->ends), compare_ends);
	for (size_t i = self->end_count; i--;)
		self->nodes[self->ends[i]->path].first_end = i;
}

/* Counts the threads of this round at their calls. */
static int threads_count(struct class_tree *self, const struct fleet_dump *dump, uint32_t round,
			 enum class_threads which)
{
	int r = 0;

	for (size_t i = 0; !r && i < dump->count; i++) {
		const struct seen_thread *thread = &dump->threads[i];

		if (!is_counted(thread, round, which))
			continue;
		self->ends[self->end_count++] = thread;
		r = thread_count(self, thread);
	}
	return r;
}

int class_tree_build(struct class_tree *ret, const struct fleet_dump *dump, uint32_t round,
		     enum class_threads which)
{
	const struct call_tree *calls = &dump->paths.tree;
	struct class_tree tree = { .paths = &dump->paths, .calls.count = calls->count };
	int r;

	tree.calls.nodes = calloc(calls->count + 1, sizeof(*calls->nodes));
	tree.nodes = calloc(calls->count + 1, sizeof(*tree.nodes));
	tree.ends = calloc(dump->count + 1, sizeof(*tree.ends));
	r = tree.calls.nodes && tree.nodes && tree.ends ? 0 : -ENOMEM;
	if (!r && calls->count)
		memcpy(tree.calls.nodes, calls->nodes, calls->count * sizeof(*calls->nodes));
	if (!r)
		r = threads_count(&tree, dump, round, which);
	if (!r)
		r = nodes_link(&tree);
	if (!r)
		ends_sort(&tree);
	*ret = tree;
	if (r)
		class_tree_done(ret);
	return r;
}

void class_tree_done(struct class_tree *self)
{
	for (size_t i = 0; self->nodes && i < self->calls.count; i++)
		rank_set_done(&self->nodes[i].ranks);
	call_tree_done(&self->calls);
	free(self->nodes);
	free(self->ends);
	*self = (struct class_tree){ 0 };
}

uint32_t class_tree_chain(const struct class_tree *self, uint32_t node)
{
	const struct tree_node *calls = self->calls.nodes;

	while (!self->nodes[node].ends && calls[node].first != PATH_NONE &&
	       calls[calls[node].first].next == PATH_NONE)
		node = calls[node].first;
	return node;
}

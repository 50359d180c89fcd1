/*
 * Builds and writes trees of names.
 */
#include "host/ui/store/name_tree.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

static int node_add(struct name_tree *self, const struct name_node *node)
{
	if (self->count >= NAME_TREE_NONE ||
	    make_room(&self->nodes, self->count, &self->room, sizeof(*self->nodes)))
		return -ENOMEM;
	self->nodes[self->count++] = *node;
	return 0;
}

int name_tree_init(struct name_tree *ret)
{
	struct name_node root = { .parent = NAME_TREE_NONE,
				  .first = NAME_TREE_NONE,
				  .next = NAME_TREE_NONE };

	*ret = (struct name_tree){ 0 };
	root.name = pool_add(&ret->names, "all");
	root.module = root.file = pool_add(&ret->names, "");
	return root.module == POOL_NONE ? -ENOMEM : node_add(ret, &root);
}

void name_tree_done(struct name_tree *tree)
{
	free(tree->nodes);
	pool_done(&tree->names);
	table_done(&tree->children);
	*tree = (struct name_tree){ 0 };
}

uint32_t name_tree_child(struct name_tree *self, uint32_t parent, enum flame_type type,
			 const char *name, const char *module)
{
	struct name_node node = { .parent = parent,
				  .type = type,
				  .name = pool_add(&self->names, name),
				  .module = pool_add(&self->names, module),
				  .file = self->nodes[0].file,
				  .first = NAME_TREE_NONE,
				  .next = NAME_TREE_NONE };
	struct table_entry *entry;
	bool is_new;

	if (node.name == POOL_NONE || node.module == POOL_NONE)
		return NAME_TREE_NONE;
	entry = table_make(&self->children, (uint64_t)parent << 8 | type,
			   (uint64_t)node.name << 32 | node.module, &is_new);
	if (!entry)
		return NAME_TREE_NONE;
	if (is_new) {
		entry->value = self->count;
		if (node_add(self, &node))
			return NAME_TREE_NONE;
	}
	return (uint32_t)entry->value;
}

static void totals_add(struct name_tree *self)
{
	for (size_t i = self->count; i-- > 0;) {
		struct name_node *node = &self->nodes[i];

		for (unsigned side = 0; side < NAME_TREE_SIDES; side++) {
			node->total[side] += node->self[side];
			node->total_count[side] += node->count[side];
			if (!i)
				continue;
			self->nodes[node->parent].total[side] += node->total[side];
			self->nodes[node->parent].total_count[side] += node->total_count[side];
		}
	}
}

/* The mean of the shares that a node has of the sides. */
static double node_share(const struct name_tree *self, const struct name_node *node)
{
	double share = 0;

	for (unsigned side = 0; side < NAME_TREE_SIDES; side++)
		if (self->nodes[0].total[side] > 0)
			share += node->total[side] / self->nodes[0].total[side];
	return share;
}

struct weighed {
	double share;
	uint32_t node;
};

static int by_share(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->share != b->share)
		return a->share < b->share ? -1 : 1;
	return a->node > b->node ? -1 : a->node < b->node;
}

/* Each is put before its siblings that are lighter. */
static int nodes_link(struct name_tree *self)
{
	CLEANUP(free) struct weighed *order = calloc(self->count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < self->count; i++)
		order[i] = (struct weighed){ node_share(self, &self->nodes[i]), i };
	qsort(order, self->count, sizeof(*order), by_share);
	for (size_t i = 0; i < self->count; i++) {
		struct name_node *node = &self->nodes[order[i].node];

		if (!order[i].node)
			continue;
		node->next = self->nodes[node->parent].first;
		self->nodes[node->parent].first = order[i].node;
	}
	return 0;
}

struct writing {
	struct name_tree *tree;
	struct columns *columns;
	unsigned up, name, module, type, line, file;
	unsigned self[NAME_TREE_SIDES], count[NAME_TREE_SIDES], sides;
	double least[NAME_TREE_SIDES];
	uint32_t *rows; /* where each node was written */
	bool *has_rest; /* the sum of narrow nodes below it was written */
	uint32_t written;
};

static void columns_begin(struct writing *self)
{
	static const char *const selves[NAME_TREE_SIDES] = { "self", "self_b" };
	static const char *const counts[NAME_TREE_SIDES] = { "count", "count_b" };

	self->up = columns_add(self->columns, "up", COLUMN_U32);
	self->name = columns_add(self->columns, "name", COLUMN_U32);
	self->module = columns_add(self->columns, "module", COLUMN_U32);
	self->type = columns_add(self->columns, "type", COLUMN_U8);
	self->line = columns_add(self->columns, "line", COLUMN_U32);
	self->file = columns_add(self->columns, "file", COLUMN_U32);
	for (unsigned side = 0; side < MIN(self->sides, NAME_TREE_SIDES); side++) {
		self->self[side] = columns_add(self->columns, selves[side], COLUMN_F64);
		self->count[side] = columns_add(self->columns, counts[side], COLUMN_F64);
	}
}

static void node_write(struct writing *self, const struct name_node *node)
{
	struct columns *columns = self->columns;
	uint32_t parent = node->parent == NAME_TREE_NONE ? 0 : self->rows[node->parent];

	column_u32(columns, self->up, self->written - parent);
	column_u32(columns, self->name, node->name);
	column_u32(columns, self->module, node->module);
	column_u8(columns, self->type, (uint8_t)node->type);
	column_u32(columns, self->line, node->line);
	column_u32(columns, self->file, node->file);
	for (unsigned side = 0; side < self->sides; side++) {
		column_f64(columns, self->self[side], node->self[side]);
		column_f64(columns, self->count[side], node->count[side]);
	}
	self->written++;
}

static bool is_narrow(const struct writing *self, const struct name_node *node)
{
	for (unsigned side = 0; side < self->sides; side++)
		if (node->total[side] > 0 && node->total[side] >= self->least[side])
			return false;
	return true;
}

/* All narrow siblings from this one on, as one; it is written where the first of them is met. */
static void rest_write(struct writing *self, uint32_t number)
{
	struct name_tree *tree = self->tree;
	struct name_node rest = tree->nodes[number];

	rest.type = FLAME_TRIMMED;
	rest.name = pool_add(&tree->names, "trimmed");
	rest.module = rest.file = tree->nodes[0].module;
	rest.line = 0;
	for (unsigned side = 0; side < NAME_TREE_SIDES; side++)
		rest.self[side] = rest.count[side] = 0;
	for (; number != NAME_TREE_NONE; number = tree->nodes[number].next) {
		if (!is_narrow(self, &tree->nodes[number]))
			continue;
		for (unsigned side = 0; side < NAME_TREE_SIDES; side++) {
			rest.self[side] += tree->nodes[number].total[side];
			rest.count[side] += tree->nodes[number].total_count[side];
		}
		tree->trimmed_nodes++;
	}
	tree->trimmed += rest.self[0];
	node_write(self, &rest);
}

static uint32_t next_of(const struct name_tree *tree, uint32_t at)
{
	while (at != NAME_TREE_NONE && tree->nodes[at].next == NAME_TREE_NONE)
		at = tree->nodes[at].parent;
	return at == NAME_TREE_NONE ? NAME_TREE_NONE : tree->nodes[at].next;
}

/* Depth first, without recursion. */
static void nodes_write(struct writing *self)
{
	struct name_tree *tree = self->tree;
	uint32_t at = 0;

	while (at != NAME_TREE_NONE) {
		if (at && is_narrow(self, &tree->nodes[at])) {
			if (!self->has_rest[tree->nodes[at].parent])
				rest_write(self, at);
			self->has_rest[tree->nodes[at].parent] = true;
			at = next_of(tree, at);
			continue;
		}
		self->rows[at] = self->written;
		node_write(self, &tree->nodes[at]);
		at = tree->nodes[at].first != NAME_TREE_NONE ? tree->nodes[at].first
							     : next_of(tree, at);
	}
}

int name_tree_write(struct name_tree *tree, struct columns *columns, unsigned sides, uint32_t width)
{
	struct writing self = { .tree = tree, .columns = columns, .sides = sides };

	totals_add(tree);
	self.rows = calloc(tree->count, sizeof(*self.rows));
	self.has_rest = calloc(tree->count, sizeof(*self.has_rest));
	if (!self.rows || !self.has_rest || nodes_link(tree)) {
		free(self.rows);
		free(self.has_rest);
		return -ENOMEM;
	}
	for (unsigned side = 0; side < sides; side++)
		self.least[side] = width ? tree->nodes[0].total[side] / (2.0 * width) : 0;
	columns_begin(&self);
	nodes_write(&self);
	column_pool(columns, columns_add(columns, "names", COLUMN_TEXTS), &tree->names);
	free(self.rows);
	free(self.has_rest);
	return 0;
}

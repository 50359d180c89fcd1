/*
 * Writes call trees.
 */
#include "host/ui/answers/flame_table.h"

#include "host/core/cleanup.h"

#include <errno.h>

struct writing {
	struct flame_table *table;
	struct columns *columns;
	struct pool names;
	uint64_t least[TREE_SIDES_MAX];
	uint32_t *rows; /* where each node was written */
	bool *has_rest; /* the sum of narrow nodes below it was written */
	uint32_t written;
};

static const struct column_name all_columns[] = {
	{ "up", COLUMN_U32 },   { "name", COLUMN_U32 },  { "module", COLUMN_U32 },
	{ "type", COLUMN_U8 },  { "line", COLUMN_U32 },  { "file", COLUMN_U32 },
	{ "self", COLUMN_F64 }, { "count", COLUMN_F64 },
};
static const struct column_name of_one[] = { { "language", COLUMN_U8 } };
static const struct column_name of_two[] = { { "self_b", COLUMN_F64 }, { "count_b", COLUMN_F64 } };

/* parent: TREE_NONE of the root. */
static void row_write(struct writing *self, uint32_t parent, const struct flame_name *name,
		      const struct tree_metrics *metrics)
{
	struct columns *columns = self->columns;
	unsigned sides = self->table->tree->sides;

	cell_u32(columns, self->written - (parent == TREE_NONE ? 0 : self->rows[parent]));
	cell_u32(columns, pool_add(&self->names, name->name));
	cell_u32(columns, pool_add(&self->names, name->module));
	cell_u8(columns, (uint8_t)name->type);
	cell_u32(columns, name->line);
	cell_u32(columns, pool_add(&self->names, name->file));
	for (unsigned side = 0; side < sides; side++) {
		cell_f64(columns, (double)metrics[side].self_ns);
		cell_f64(columns, (double)metrics[side].self_count);
	}
	if (sides == 1)
		cell_u8(columns, (uint8_t)name->language);
	self->written++;
}

static void node_write(struct writing *self, uint32_t number)
{
	struct flame_table *table = self->table;
	const struct tree_node *node = &table->tree->nodes[number];
	struct flame_name name = { .name = "all", .module = "", .file = "" };

	if (node->kind == TREE_INCOMPLETE)
		name = (struct flame_name){ "[incomplete stack]", "", "", 0, FLAME_INCOMPLETE };
	else if (number)
		table->name(table, node, &name);
	if (node->kind == TREE_FUNCTION)
		table->languages |= 1u << name.language;
	self->rows[number] = self->written;
	row_write(self, node->parent, &name, call_tree_metrics(table->tree, number, 0));
}

static bool is_narrow(const struct writing *self, uint32_t number)
{
	const struct call_tree *tree = self->table->tree;

	for (unsigned side = 0; side < tree->sides; side++) {
		uint64_t total = call_tree_metrics(tree, number, side)->total_ns;

		if (total >= self->least[side] && (total || tree->sides == 1))
			return false;
	}
	return true;
}

/* All narrow siblings from this one on, as one; it is written where the first of them is met. */
static void rest_write(struct writing *self, uint32_t number)
{
	const struct flame_name name = { "trimmed", "", "", 0, FLAME_TRIMMED };
	struct flame_table *table = self->table;
	const struct call_tree *tree = table->tree;
	uint32_t parent = tree->nodes[number].parent;
	struct tree_metrics rest[TREE_SIDES_MAX] = { 0 };

	for (; number != TREE_NONE; number = tree->nodes[number].next) {
		if (!is_narrow(self, number))
			continue;
		for (unsigned side = 0; side < tree->sides; side++) {
			rest[side].self_ns += call_tree_metrics(tree, number, side)->total_ns;
			rest[side].self_count += call_tree_metrics(tree, number, side)->total_count;
		}
		table->trimmed_nodes++;
	}
	table->trimmed += rest[0].self_ns;
	self->has_rest[parent] = true;
	row_write(self, parent, &name, rest);
}

/* Depth first, without recursion: stacks may be deep. */
static void nodes_write(struct writing *self)
{
	const struct call_tree *tree = self->table->tree;
	uint32_t at = 0;

	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];
		bool is_wide = !at || !is_narrow(self, at);

		if (is_wide)
			node_write(self, at);
		else if (!self->has_rest[node->parent])
			rest_write(self, at);
		at = is_wide && node->first != TREE_NONE ? node->first : call_tree_after(tree, at);
	}
}

int flame_table_write(struct flame_table *table, struct columns *columns, uint32_t width)
{
	const struct call_tree *tree = table->tree;
	CLEANUP(free) uint32_t *rows = calloc(tree->count, sizeof(*rows));
	CLEANUP(free) bool *has_rest = calloc(tree->count, sizeof(*has_rest));
	struct writing self = { table, columns, .rows = rows, .has_rest = has_rest };

	if (!rows || !has_rest)
		return -ENOMEM;
	for (unsigned side = 0; width && side < tree->sides; side++)
		self.least[side] = tree->metrics[side].total_ns / (2u * width);
	columns_begin(columns, all_columns, ARRAY_SIZE(all_columns));
	if (tree->sides == 1)
		columns_begin(columns, of_one, ARRAY_SIZE(of_one));
	else
		columns_begin(columns, of_two, ARRAY_SIZE(of_two));
	nodes_write(&self);
	column_pool(columns, columns_add(columns, "names", COLUMN_TEXTS), &self.names);
	pool_done(&self.names);
	return 0;
}

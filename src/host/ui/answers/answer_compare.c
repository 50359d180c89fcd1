/*
 * Two ranges beside each other, of one session or of two.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/model/samples/call_tree.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/store/name_tree.h"

#include <errno.h>
#include <stdlib.h>

struct comparing {
	struct name_tree *tree;
	const struct ui_command *command;
	unsigned side;
	uint64_t totals[NAME_TREE_SIDES], samples[NAME_TREE_SIDES];
};

#define TITLE_MAX 256u

/* The node of the common tree that stands for one of a side; the same name in code of the same name
 * is the same function. */
static uint32_t node_find(struct name_tree *tree, const struct call_tree *from,
			  const struct tree_node *node, uint32_t parent)
{
	const struct sample_function *function = call_tree_function(from, node);
	char title[TITLE_MAX];

	if (function)
		return name_tree_child(
			tree, parent, function->is_named ? FLAME_FUNCTION : FLAME_UNNAMED,
			function->name, from->model->samples->codes[function->code].name);
	call_tree_name(from, node, title, sizeof(title));
	return name_tree_child(tree, parent,
			       node->kind == TREE_THREAD ? FLAME_THREAD : FLAME_INCOMPLETE, title,
			       "");
}

static int tree_lay(struct comparing *self, const struct call_tree *from)
{
	CLEANUP(free) uint32_t *nodes = calloc(from->count, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		const struct tree_node *node = &from->nodes[i];

		nodes[i] = i ? node_find(self->tree, from, node, nodes[node->parent]) : 0;
		if (nodes[i] == NAME_TREE_NONE)
			return -ENOMEM;
		self->tree->nodes[nodes[i]].self[self->side] += (double)node->self_ns;
		self->tree->nodes[nodes[i]].count[self->side] += (double)node->self_count;
	}
	return 0;
}

static int side_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	struct comparing *self = context;
	const struct call_tree_options options = { .is_inverted = self->command->is_inverted };
	int r = slice_gather(slice, /* is_by_thread */ false, &profile);

	if (!r)
		r = call_tree_build(&tree, slice->model, &profile, &options);
	self->totals[self->side] = profile.weight_ns;
	self->samples[self->side] = profile.sample_count;
	return r ? r : tree_lay(self, &tree);
}

static void facts_write(const struct comparing *self, struct columns *columns, uint64_t began_ns)
{
	struct json *json = &columns->facts;

	json_text(json, "unit", ui_kind_unit(self->command->kind));
	json_text(json, "kind", ui_kind_name(self->command->kind));
	json_number(json, "total", self->totals[0]);
	json_number(json, "total_b", self->totals[1]);
	json_number(json, "samples", self->samples[0]);
	json_number(json, "samples_b", self->samples[1]);
	json_rounded(json, "trimmed", self->tree->trimmed, 0);
	json_number(json, "trimmed_nodes", self->tree->trimmed_nodes);
	json_text(json, "empty",
		  self->samples[0] && self->samples[1]
			  ? ""
			  : "one of the ranges has no sample of this kind");
	json_number(json, "elapsed_us", (now_ns() - began_ns) / 1000);
}

/* One side after the other: both may be the same session, which lets one reader in at a time. */
static int sides_read(struct ui *ui, struct comparing *self, struct err *err)
{
	const struct ui_range *ranges[] = { &self->command->range, &self->command->other };
	int r = 0;

	for (; !r && self->side < NAME_TREE_SIDES; self->side++) {
		struct ui_session *session =
			sessions_find(&ui->sessions, ranges[self->side]->session, err);

		if (!session || ui_session_follow_kind(session, self->command->kind, err))
			return err->code;
		r = ui_session_read_kind(session, ranges[self->side], self->command->kind,
					 side_read, self);
	}
	return r;
}

int answer_compare(struct ui *ui, const struct ui_command *command, struct reply *reply,
		   struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	CLEANUP(name_tree_done) struct name_tree tree = { 0 };
	struct comparing self = { .tree = &tree, .command = command };
	uint64_t began_ns = now_ns();
	int r = columns_init(&columns);

	if (!r)
		r = name_tree_init(&tree);
	if (!r)
		r = sides_read(ui, &self, err);
	if (!r)
		r = name_tree_write(&tree, &columns, NAME_TREE_SIDES, command->width);
	if (r)
		return err->code ? err->code : err_set(err, r, "compare: no memory");
	facts_write(&self, &columns, began_ns);
	return reply_columns(reply, &columns, command->is_json, err);
}

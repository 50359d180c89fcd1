/*
 * Answers that are added up from stacks: the flame graph.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/model/samples/call_tree.h"
#include "host/ui/answers/handlers.h"
#include "host/ui/store/name_tree.h"
#include "host/ui/store/spans.h"

#include <errno.h>

static const enum flame_type types[] = {
	[TREE_ALL] = FLAME_ROOT,
	[TREE_THREAD] = FLAME_THREAD,
	[TREE_INCOMPLETE] = FLAME_INCOMPLETE,
	[TREE_FUNCTION] = FLAME_FUNCTION,
	[TREE_PROCESS] = FLAME_THREAD,
};

#define NODE_NAME_MAX 1024u

struct flame {
	const struct ui_command *command;
	struct columns *columns;
	const struct call_tree *tree;
	const struct samples *samples;
	struct pool names;
	unsigned up, name, module, type, language, self, count, line, file;
	unsigned languages; /* bits of those written */
	uint32_t written;
	uint64_t least_ns; /* below half a pixel */
	uint64_t trimmed_ns, trimmed_nodes;
	uint32_t *rows;            /* where each node was written */
	struct stack_tree *stacks; /* of an opened recording; NULL */
};

static void flame_columns(struct flame *self)
{
	self->up = columns_add(self->columns, "up", COLUMN_U32);
	self->name = columns_add(self->columns, "name", COLUMN_U32);
	self->module = columns_add(self->columns, "module", COLUMN_U32);
	self->type = columns_add(self->columns, "type", COLUMN_U8);
	self->language = columns_add(self->columns, "language", COLUMN_U8);
	self->self = columns_add(self->columns, "self", COLUMN_F64);
	self->count = columns_add(self->columns, "count", COLUMN_F64);
	self->line = columns_add(self->columns, "line", COLUMN_U32);
	self->file = columns_add(self->columns, "file", COLUMN_U32);
}

/* A row of the table. */
struct flame_row {
	uint32_t parent; /* where it was written */
	const char *name, *module, *file;
	uint32_t line;
	enum flame_type type;
	enum frame_language language; /* of functions */
	uint64_t self_ns, count;
};

static void row_write(struct flame *self, const struct flame_row *row)
{
	struct columns *columns = self->columns;

	column_u32(columns, self->up, self->written - row->parent);
	column_u32(columns, self->name, pool_add(&self->names, row->name));
	column_u32(columns, self->module, pool_add(&self->names, row->module));
	column_u8(columns, self->type, row->type);
	column_u8(columns, self->language, row->language);
	column_f64(columns, self->self, (double)row->self_ns);
	column_f64(columns, self->count, (double)row->count);
	column_u32(columns, self->line, row->line);
	column_u32(columns, self->file, pool_add(&self->names, row->file));
	self->written++;
}

static uint32_t parent_of(const struct flame *self, const struct tree_node *node)
{
	return node->parent == TREE_NONE ? 0 : self->rows[node->parent];
}

static void node_write(struct flame *self, uint32_t number)
{
	const struct tree_node *node = &self->tree->nodes[number];
	const struct sample_function *function = call_tree_function(self->tree, node);
	struct flame_row row = { .parent = parent_of(self, node),
				 .module = "",
				 .file = "",
				 .type = types[node->kind],
				 .self_ns = node->self_ns,
				 .count = node->self_count };
	char name[NODE_NAME_MAX];

	call_tree_name(self->tree, node, name, sizeof(name));
	row.name = name;
	if (function) {
		row.name = function->name;
		row.module = self->samples->codes[function->code].name;
		row.type = function->is_named ? FLAME_FUNCTION : FLAME_UNNAMED;
		row.language = call_tree_language(self->tree, node);
		self->languages |= 1u << row.language;
		row.file = self->samples->locations[node->location].file;
		row.line = self->samples->locations[node->location].line;
	}
	self->rows[number] = self->written;
	row_write(self, &row);
}

/* This one and its lighter siblings, as one. */
static void rest_write(struct flame *self, uint32_t number)
{
	const struct tree_node *node = &self->tree->nodes[number];
	struct flame_row row = { .parent = parent_of(self, node),
				 .name = "trimmed",
				 .module = "",
				 .file = "",
				 .type = FLAME_TRIMMED };

	for (; number != TREE_NONE; number = self->tree->nodes[number].next) {
		row.self_ns += self->tree->nodes[number].total_ns;
		row.count += self->tree->nodes[number].total_count;
		self->trimmed_nodes++;
	}
	self->trimmed_ns += row.self_ns;
	row_write(self, &row);
}

/* The sibling of this one, or of the nearest node above it that has one. */
static uint32_t next_of(const struct call_tree *tree, uint32_t at)
{
	while (at != TREE_NONE && tree->nodes[at].next == TREE_NONE)
		at = tree->nodes[at].parent;
	return at == TREE_NONE ? TREE_NONE : tree->nodes[at].next;
}

/* Depth first, without recursion: stacks may be deep. */
static void nodes_write(struct flame *self)
{
	const struct call_tree *tree = self->tree;
	uint32_t at = 0;

	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];

		if (node->total_ns < self->least_ns && at) {
			rest_write(self, at);
			at = next_of(tree, node->parent);
			continue;
		}
		node_write(self, at);
		at = node->first != TREE_NONE ? node->first : next_of(tree, at);
	}
}

static void facts_write(struct flame *self, const struct slice *slice,
			const struct profile *profile, uint64_t began_ns)
{
	struct json *json = &self->columns->facts;
	uint64_t incomplete = 0;

	for (size_t i = 0; i < profile->count; i++)
		if (profile->entries[i].end != STACK_COMPLETE)
			incomplete += profile->entries[i].count;
	json_text(json, "unit", ui_kind_unit(self->command->kind));
	json_text(json, "kind", ui_kind_name(self->command->kind));
	json_number(json, "total", profile->weight_ns);
	json_number(json, "samples", profile->sample_count);
	json_number(json, "incomplete", incomplete);
	json_number(json, "trimmed", self->trimmed_ns);
	json_number(json, "trimmed_nodes", self->trimmed_nodes);
	frame_languages_write(json, "languages", self->languages);
	json_number(json, "from", slice->from_ns - slice->origin_ns);
	json_number(json, "to", slice->to_ns - slice->origin_ns);
	json_text(json, "empty", profile->sample_count ? "" : ui_kind_empty(self->command->kind));
	json_number(json, "elapsed_us", (now_ns() - began_ns) / 1000);
}

static int tree_write(struct flame *self)
{
	unsigned names;

	self->rows = calloc(self->tree->count + 1, sizeof(*self->rows));
	if (!self->rows)
		return -ENOMEM;
	flame_columns(self);
	nodes_write(self);
	names = columns_add(self->columns, "names", COLUMN_TEXTS);
	column_pool(self->columns, names, &self->names);
	return 0;
}

/* A live session loses stacks and gains others: its tree is built each time. */
static int tree_make(struct flame *self, const struct slice *slice, const struct profile *profile,
		     struct call_tree *ret)
{
	const struct call_tree_options options = {
		.is_inverted = self->command->is_inverted,
		.is_by_thread = self->command->is_by_thread,
	};

	if (!self->stacks || options.is_by_thread)
		return call_tree_build(ret, slice->model, profile, &options);
	return stack_tree_weigh(self->stacks, profile, self->least_ns, ret);
}

static int flame_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	struct flame *self = context;
	uint64_t began_ns = now_ns();
	int r = slice_gather(slice, self->command->is_by_thread, &profile);

	if (self->command->width)
		self->least_ns = profile.weight_ns / (2u * self->command->width);
	if (!r)
		r = tree_make(self, slice, &profile, &tree);
	self->tree = &tree;
	self->samples = slice->model->samples;
	if (!r)
		r = tree_write(self);
	if (!r)
		facts_write(self, slice, &profile, began_ns);
	return r;
}

static int stacks_read(const struct slice *slice, void *context)
{
	const struct flame *self = context;

	return stack_tree_build(self->stacks, slice, self->command->is_inverted);
}

/* Sources whose stacks do not change: a recording, and calls as far as read; NULL: none. */
static struct stack_tree *stacks_of(struct ui_session *session, enum ui_kind kind)
{
	struct call_samples *samples;

	if (ui_sample_kinds(kind))
		return ui_session_is_live(session) ? NULL : session->stacks;
	samples = ui_session_call_samples(session, kind);
	return samples && samples->is_made ? samples->stacks : NULL;
}

/* The tree of a whole recording, before the first request for a range. */
static int stacks_prepare(struct flame *self, struct ui_session *session)
{
	static const struct ui_range all = { .to_ns = UINT64_C(1) << 62 };
	enum ui_kind kind = self->command->kind;

	self->stacks = stacks_of(session, kind);
	if (!self->stacks)
		return 0;
	self->stacks += self->command->is_inverted;
	if (!ui_sample_kinds(kind))
		return ui_session_read_kind(session, &all, kind, stacks_read, self);
	return ui_session_read(session, &all, KINDS_ALL, stacks_read, self);
}

int answer_flame(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct flame self = { .command = command, .columns = &columns };
	int r;

	if (!session)
		return err->code;
	if (ui_session_follow_kind(session, command->kind, err))
		return err->code;
	r = columns_init(&columns);
	if (!r)
		r = stacks_prepare(&self, session);
	if (!r)
		r = ui_session_read_kind(session, &command->range, command->kind, flame_read,
					 &self);
	pool_done(&self.names);
	free(self.rows);
	return r ? err_set(err, r, "flame graph: no memory")
		 : reply_columns(reply, &columns, command->is_json, err);
}

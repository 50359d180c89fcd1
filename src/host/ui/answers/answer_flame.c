/*
 * The flame graph.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/ui/answers/flame_table.h"
#include "host/ui/answers/handlers.h"

#define NODE_NAME_MAX 1024u

static void node_name(const struct flame_table *table, const struct tree_node *node,
		      struct flame_name *ret)
{
	const struct sample_function *function = call_tree_function(table->tree, node);
	const struct samples *samples = table->tree->model->samples;
	const struct sample_location *location = &samples->locations[node->location];

	if (!function) {
		call_tree_name(table->tree, node, table->context, NODE_NAME_MAX);
		ret->name = table->context;
		ret->type = FLAME_THREAD;
		return;
	}
	*ret = (struct flame_name){ .name = function->name,
				    .module = samples->codes[function->code].name,
				    .file = location->file,
				    .line = location->line,
				    .type = function->is_named ? FLAME_FUNCTION : FLAME_UNNAMED,
				    .language = call_tree_language(table->tree, node) };
}

static void facts_write(const struct answer *self, const struct flame_table *table,
			const struct slice *slice, const struct profile *profile)
{
	struct json *json = self->json;
	uint64_t incomplete = 0;

	for (size_t i = 0; i < profile->count; i++)
		if (profile->entries[i].end != STACK_COMPLETE)
			incomplete += profile->entries[i].count;
	json_text(json, "unit", ui_kind_unit(self->command->kind));
	json_text(json, "kind", ui_kind_name(self->command->kind));
	json_number(json, "total", profile->weight_ns);
	json_number(json, "samples", profile->sample_count);
	json_number(json, "incomplete", incomplete);
	json_number(json, "trimmed", table->trimmed);
	json_number(json, "trimmed_nodes", table->trimmed_nodes);
	frame_languages_write(json, "languages", table->languages);
	json_number(json, "from", slice->from_ns - slice->origin_ns);
	json_number(json, "to", slice->to_ns - slice->origin_ns);
	json_text(json, "empty", profile->sample_count ? "" : ui_kind_empty(self->command->kind));
}

static int tree_make(const struct ui_command *command, const struct slice *slice,
		     const struct profile *profile, struct call_tree *ret)
{
	const struct tree_source source = { .model = slice->model,
					    .options = { .is_inverted = command->is_inverted,
							 .is_by_thread = command->is_by_thread } };
	uint64_t least = command->width ? profile->weight_ns / (2u * command->width) : 0;

	if (!slice->trees || command->is_by_thread)
		return call_tree_build(ret, slice->model, profile, &source.options);
	return call_tree_weigh(&slice->trees[command->is_inverted], &source, profile, least, ret);
}

static int flame_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	struct answer *self = context;
	char name[NODE_NAME_MAX];
	struct flame_table table = { .tree = &tree, .name = node_name, .context = name };
	uint64_t began_ns = now_ns();
	int r = slice_gather(slice, self->command->is_by_thread, &profile);

	if (!r)
		r = tree_make(self->command, slice, &profile, &tree);
	if (!r)
		r = flame_table_write(&table, &self->columns, self->command->width);
	facts_write(self, &table, slice, &profile);
	json_number(self->json, "elapsed_us", (now_ns() - began_ns) / 1000);
	return r;
}

static int stacks_read(const struct slice *slice, void *context)
{
	const struct answer *self = context;
	const struct call_tree_options options = { .is_inverted = self->command->is_inverted };

	return slice->trees && !slice->trees[options.is_inverted].count
		       ? store_grow_tree(&slice->trees[options.is_inverted], slice, &options)
		       : 0;
}

int answer_flame(struct answer *self)
{
	static const struct ui_range all = { .to_ns = UINT64_C(1) << 62 };
	const struct ui_command *command = self->command;
	int r = 0;

	/* The tree of a whole recording, or of all calls, before the first request for a range. */
	if (!ui_sample_kinds(command->kind))
		r = ui_session_read_kind(self->session, &all, command->kind, stacks_read, self);
	else if (!ui_session_is_live(self->session))
		r = ui_session_read(self->session, &all, KINDS_ALL, stacks_read, self);
	return r ? r
		 : ui_session_read_kind(self->session, &command->range, command->kind, flame_read,
					self);
}

/*
 * Two ranges beside each other, of one session or of two.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/ui/answers/flame_table.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>

#define SIDES 2u

/* The same name in code of the same name is the same function. */
struct common_function {
	const char *name, *module;
	bool is_named;
};

struct comparing {
	const struct ui_command *command;
	struct call_tree tree; /* values are indexes of functions */
	struct common_function *functions;
	size_t function_count, function_room;
	struct pool texts;
	struct table numbers; /* (name, module and is_named): index of a function */
	unsigned side;
	uint64_t totals[SIDES], samples[SIDES];
};

static int function_find(struct comparing *self, const struct samples *samples, uint32_t number,
			 uint32_t *ret)
{
	const struct sample_function *function = &samples->functions[number];
	uint32_t name = pool_add(&self->texts, function->name);
	uint32_t module = pool_add(&self->texts, samples->codes[function->code].name);
	struct table_entry *entry;
	bool is_new;

	if (name == POOL_NONE || module == POOL_NONE ||
	    make_room(&self->functions, self->function_count, &self->function_room,
		      sizeof(*self->functions)))
		return -ENOMEM;
	entry = table_make(&self->numbers, name, (uint64_t)module << 1 | function->is_named,
			   &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->function_count;
		self->functions[self->function_count++] =
			(struct common_function){ pool_text(&self->texts, name),
						  pool_text(&self->texts, module),
						  function->is_named };
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

static int side_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	const struct samples *samples = slice->model->samples;
	CLEANUP(free) uint32_t *functions = calloc(samples->function_count + 1, sizeof(*functions));
	struct comparing *self = context;
	const struct tree_source source = { .model = slice->model,
					    .functions = functions,
					    .options.is_inverted = self->command->is_inverted,
					    .side = self->side };
	int r = functions ? slice_gather(slice, /* is_by_thread */ false, &profile) : -ENOMEM;

	for (uint32_t i = 0; !r && i < samples->function_count; i++)
		r = function_find(self, samples, i, &functions[i]);
	self->totals[self->side] = profile.weight_ns;
	self->samples[self->side] = profile.sample_count;
	return r ? r : call_tree_add(&self->tree, &source, &profile, /* of_entry */ NULL);
}

/* One side after the other: both may be the same session, which lets one reader in at a time. */
static int sides_read(struct ui *ui, struct comparing *self, struct err *err)
{
	const struct ui_range *ranges[] = { &self->command->range, &self->command->other };
	int r = call_tree_init(&self->tree, SIDES);

	for (; !r && self->side < SIDES; self->side++) {
		struct ui_session *session =
			sessions_find(&ui->sessions, ranges[self->side]->session, err);

		if (!session || ui_session_follow_kind(session, self->command->kind, err))
			return err->code;
		r = ui_session_read_kind(session, ranges[self->side], self->command->kind,
					 side_read, self);
	}
	return r ? r : call_tree_finish(&self->tree, /* least */ 0);
}

static void node_name(const struct flame_table *table, const struct tree_node *node,
		      struct flame_name *ret)
{
	const struct comparing *self = table->context;
	const struct common_function *function = &self->functions[node->value];

	ret->name = function->name;
	ret->module = function->module;
	ret->type = function->is_named ? FLAME_FUNCTION : FLAME_UNNAMED;
}

static void facts_write(const struct comparing *self, const struct flame_table *table,
			struct json *json, uint64_t began_ns)
{
	json_text(json, "unit", ui_kind_unit(self->command->kind));
	json_text(json, "kind", ui_kind_name(self->command->kind));
	json_number(json, "total", self->totals[0]);
	json_number(json, "total_b", self->totals[1]);
	json_number(json, "samples", self->samples[0]);
	json_number(json, "samples_b", self->samples[1]);
	json_number(json, "trimmed", table->trimmed);
	json_number(json, "trimmed_nodes", table->trimmed_nodes);
	json_text(json, "empty",
		  self->samples[0] && self->samples[1]
			  ? ""
			  : "one of the ranges has no sample of this kind");
	json_number(json, "elapsed_us", (now_ns() - began_ns) / 1000);
}

int answer_compare(struct ui *ui, const struct ui_command *command, struct reply *reply,
		   struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct comparing self = { .command = command };
	struct flame_table table = { .tree = &self.tree, .name = node_name, .context = &self };
	uint64_t began_ns = now_ns();
	int r = columns_init(&columns);

	if (!r)
		r = sides_read(ui, &self, err);
	if (!r)
		r = flame_table_write(&table, &columns, command->width);
	call_tree_done(&self.tree);
	free(self.functions);
	pool_done(&self.texts);
	table_done(&self.numbers);
	if (r)
		return err->code ? err->code : err_set(err, r, "compare: no memory");
	facts_write(&self, &table, &columns.facts, began_ns);
	return reply_columns(reply, &columns, command->is_json, err);
}

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
	struct answer *answer;
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
					    .options.is_inverted =
						    self->answer->command->is_inverted,
					    .side = self->side };
	int r = functions ? slice_gather(slice, /* is_by_thread */ false, &profile) : -ENOMEM;

	for (uint32_t i = 0; !r && i < samples->function_count; i++)
		r = function_find(self, samples, i, &functions[i]);
	self->totals[self->side] = profile.weight_ns;
	self->samples[self->side] = profile.sample_count;
	return r ? r : call_tree_add(&self->tree, &source, &profile, /* of_entry */ NULL);
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

/* One side after the other: both may be the same session, which lets one reader in at a time. */
static int sides_read(struct comparing *self)
{
	const struct ui_command *command = self->answer->command;
	struct err *err = self->answer->err;
	struct ui_session *other =
		sessions_find(&self->answer->ui->sessions, command->other.session, err);
	int r;

	if (!other || ui_session_follow_kind(other, command->kind, err))
		return err->code;
	r = call_tree_init(&self->tree, SIDES);
	if (!r)
		r = ui_session_read_kind(self->answer->session, &command->range, command->kind,
					 side_read, self);
	self->side = 1;
	if (!r)
		r = ui_session_read_kind(other, &command->other, command->kind, side_read, self);
	return r ? r : call_tree_finish(&self->tree, /* least */ 0);
}

int answer_compare(struct answer *answer)
{
	const struct ui_command *command = answer->command;
	struct comparing self = { .answer = answer };
	struct flame_table table = { .tree = &self.tree, .name = node_name, .context = &self };
	struct json *json = answer->json;
	uint64_t began_ns = now_ns();
	int r = sides_read(&self);

	if (!r)
		r = flame_table_write(&table, &answer->columns, command->width);
	call_tree_done(&self.tree);
	free(self.functions);
	pool_done(&self.texts);
	table_done(&self.numbers);
	json_text(json, "unit", ui_kind_unit(command->kind));
	json_text(json, "kind", ui_kind_name(command->kind));
	json_number(json, "total", self.totals[0]);
	json_number(json, "total_b", self.totals[1]);
	json_number(json, "samples", self.samples[0]);
	json_number(json, "samples_b", self.samples[1]);
	json_number(json, "trimmed", table.trimmed);
	json_number(json, "trimmed_nodes", table.trimmed_nodes);
	json_text(json, "empty",
		  self.samples[0] && self.samples[1]
			  ? ""
			  : "one of the ranges has no sample of this kind");
	json_number(json, "elapsed_us", (now_ns() - began_ns) / 1000);
	return r;
}

/*
 * Answers about functions: the hottest, and one among its callers, callees and lines.
 */
#include "host/core/cleanup.h"
#include "host/model/samples/neighbours.h"
#include "host/model/statistics.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <string.h>

static void totals_write(const struct answer *self, const struct profile *profile)
{
	json_text(self->json, "unit", ui_kind_unit(self->command->kind));
	json_number(self->json, "total", profile->weight_ns);
	json_number(self->json, "samples", profile->sample_count);
	json_text(self->json, "empty",
		  profile->sample_count ? "" : ui_kind_empty(self->command->kind));
}

static int functions_read(const struct slice *slice, void *context)
{
	static const struct column_name names[] = {
		{ "name", COLUMN_TEXTS },      { "module", COLUMN_TEXTS },
		{ "named", COLUMN_U8 },        { "self", COLUMN_F64 },
		{ "total", COLUMN_F64 },       { "self_count", COLUMN_F64 },
		{ "total_count", COLUMN_F64 }, { "self_error", COLUMN_F64 },
	};
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	struct answer *self = context;
	struct columns *columns = &self->columns;
	size_t shown;

	if (slice_gather(slice, /* is_by_thread */ false, &profile) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	columns_begin(columns, names, ARRAY_SIZE(names));
	shown = self->command->limit ? MIN(hot.count, self->command->limit) : hot.count;
	for (size_t i = 0; i < shown; i++) {
		const struct hot_function *row = &hot.rows[i];

		cell_text(columns, row->function->name);
		cell_text(columns, profile.samples->codes[row->function->code].name);
		cell_u8(columns, row->function->is_named);
		cell_f64(columns, (double)row->self_ns);
		cell_f64(columns, (double)row->total_ns);
		cell_f64(columns, (double)row->self_count);
		cell_f64(columns, (double)row->total_count);
		cell_f64(columns, (double)share_error(row, &profile) / 100);
	}
	totals_write(self, &profile);
	json_number(self->json, "more", hot.count - shown);
	return 0;
}

int answer_functions(struct answer *self)
{
	return ui_session_read_kind(self->session, &self->command->range, self->command->kind,
				    functions_read, self);
}

enum sandwich_role { SANDWICH_CALLER, SANDWICH_CALLEE, SANDWICH_LINE };

struct sandwich_row {
	enum sandwich_role role;
	const char *name, *module;
	uint32_t line;
	uint64_t self_ns, total_ns;
};

static void row_write(struct columns *columns, const struct sandwich_row *row)
{
	cell_u8(columns, (uint8_t)row->role);
	cell_text(columns, row->name);
	cell_text(columns, row->module);
	cell_u32(columns, row->line);
	cell_f64(columns, (double)row->self_ns);
	cell_f64(columns, (double)row->total_ns);
}

static void neighbours_write(struct columns *columns, const struct samples *samples,
			     enum sandwich_role role, const struct neighbour *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_write(columns, &(struct sandwich_row){
					   .role = role,
					   .name = items[i].function->name,
					   .module = samples->codes[items[i].function->code].name,
					   .total_ns = items[i].total_ns });
}

static uint32_t function_find(const struct samples *samples, const struct ui_command *command)
{
	for (uint32_t i = 0; i < samples->function_count; i++) {
		const struct sample_function *function = &samples->functions[i];

		if (!strcmp(function->name, command->name) &&
		    !strcmp(samples->codes[function->code].name, command->module))
			return i;
	}
	return UINT32_MAX;
}

static int sandwich_read(const struct slice *slice, void *context)
{
	static const struct column_name names[] = {
		{ "role", COLUMN_U8 },  { "name", COLUMN_TEXTS }, { "module", COLUMN_TEXTS },
		{ "line", COLUMN_U32 }, { "self", COLUMN_F64 },   { "total", COLUMN_F64 },
	};
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(neighbours_done) struct neighbours found = { 0 };
	const struct samples *samples = slice->model->samples;
	struct answer *self = context;
	uint32_t number = function_find(samples, self->command);

	if (slice_gather(slice, /* is_by_thread */ false, &profile) ||
	    (number != UINT32_MAX && neighbours_find(&found, &profile, number)))
		return -ENOMEM;
	columns_begin(&self->columns, names, ARRAY_SIZE(names));
	neighbours_write(&self->columns, samples, SANDWICH_CALLER, found.callers,
			 found.caller_count);
	neighbours_write(&self->columns, samples, SANDWICH_CALLEE, found.callees,
			 found.callee_count);
	for (size_t i = 0; i < found.line_count; i++)
		row_write(&self->columns,
			  &(struct sandwich_row){ SANDWICH_LINE, found.lines[i].file, "",
						  found.lines[i].line, found.lines[i].self_ns,
						  found.lines[i].total_ns });
	totals_write(self, &profile);
	json_number(self->json, "self", found.self_ns);
	json_number(self->json, "of", found.total_ns);
	return 0;
}

/* Lines take longer to resolve than names: those of a live session are resolved on request. */
int answer_sandwich(struct answer *self)
{
	const struct ui_command *command = self->command;

	if (ui_session_is_live(self->session) &&
	    live_find_lines(self->session->live, command->name, command->module))
		return -ENOMEM;
	return ui_session_read_kind(self->session, &command->range, command->kind, sandwich_read,
				    self);
}

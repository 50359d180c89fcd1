/*
 * Answers about functions: the hottest, and one among its callers, callees and lines.
 */
#include "host/core/cleanup.h"
#include "host/model/samples/neighbours.h"
#include "host/model/statistics.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <string.h>

/* The context of a slice's reader. */
struct asking {
	const struct ui_command *command;
	struct columns *columns;
};

static void totals_write(const struct asking *self, const struct profile *profile)
{
	struct json *json = &self->columns->facts;

	json_text(json, "unit", ui_kind_unit(self->command->kind));
	json_number(json, "total", profile->weight_ns);
	json_number(json, "samples", profile->sample_count);
	json_text(json, "empty", profile->sample_count ? "" : ui_kind_empty(self->command->kind));
}

static const struct column_name function_columns[] = {
	{ "name", COLUMN_TEXTS },      { "module", COLUMN_TEXTS },   { "named", COLUMN_U8 },
	{ "self", COLUMN_F64 },        { "total", COLUMN_F64 },      { "self_count", COLUMN_F64 },
	{ "total_count", COLUMN_F64 }, { "self_error", COLUMN_F64 },
};

static void function_write(struct columns *columns, const struct profile *profile,
			   const struct hot_function *row)
{
	cell_text(columns, row->function->name);
	cell_text(columns, profile->samples->codes[row->function->code].name);
	cell_u8(columns, row->function->is_named);
	cell_f64(columns, (double)row->self_ns);
	cell_f64(columns, (double)row->total_ns);
	cell_f64(columns, (double)row->self_count);
	cell_f64(columns, (double)row->total_count);
	cell_f64(columns, (double)share_error(row, profile) / 100);
}

static int functions_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	struct asking *self = context;
	size_t shown;

	if (slice_gather(slice, /* is_by_thread */ false, &profile) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	columns_begin(self->columns, function_columns, ARRAY_SIZE(function_columns));
	shown = self->command->limit ? MIN(hot.count, self->command->limit) : hot.count;
	for (size_t i = 0; i < shown; i++)
		function_write(self->columns, &profile, &hot.rows[i]);
	totals_write(self, &profile);
	json_number(&self->columns->facts, "more", hot.count - shown);
	return 0;
}

/* Reads a session for a table. */
static int table_write(struct ui *ui, const struct ui_command *command, slice_reader *read,
		       struct reply *reply, struct err *err)
{
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct asking self = { command, &columns };
	int r;

	if (!session || ui_session_follow_kind(session, command->kind, err))
		return err->code;
	r = columns_init(&columns);
	if (!r)
		r = ui_session_read_kind(session, &command->range, command->kind, read, &self);
	return r ? err_set(err, r, "functions: no memory")
		 : reply_columns(reply, &columns, command->is_json, err);
}

int answer_functions(struct ui *ui, const struct ui_command *command, struct reply *reply,
		     struct err *err)
{
	return table_write(ui, command, functions_read, reply, err);
}

enum sandwich_role { SANDWICH_CALLER, SANDWICH_CALLEE, SANDWICH_LINE };

static const struct column_name sandwich_columns[] = {
	{ "role", COLUMN_U8 },  { "name", COLUMN_TEXTS }, { "module", COLUMN_TEXTS },
	{ "line", COLUMN_U32 }, { "self", COLUMN_F64 },   { "total", COLUMN_F64 },
};

struct sandwich_row {
	enum sandwich_role role;
	const char *name, *module;
	uint32_t line;
	uint64_t self_ns, total_ns;
};

static void sandwich_write(struct columns *columns, const struct sandwich_row *row)
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
		sandwich_write(columns,
			       &(struct sandwich_row){
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

static int sandwich_fill(struct asking *self, const struct profile *profile)
{
	CLEANUP(neighbours_done) struct neighbours found = { 0 };
	uint32_t number = function_find(profile->samples, self->command);

	columns_begin(self->columns, sandwich_columns, ARRAY_SIZE(sandwich_columns));
	if (number != UINT32_MAX && neighbours_find(&found, profile, number))
		return -ENOMEM;
	neighbours_write(self->columns, profile->samples, SANDWICH_CALLER, found.callers,
			 found.caller_count);
	neighbours_write(self->columns, profile->samples, SANDWICH_CALLEE, found.callees,
			 found.callee_count);
	for (size_t i = 0; i < found.line_count; i++)
		sandwich_write(self->columns,
			       &(struct sandwich_row){ SANDWICH_LINE, found.lines[i].file, "",
						       found.lines[i].line, found.lines[i].self_ns,
						       found.lines[i].total_ns });
	totals_write(self, profile);
	json_number(&self->columns->facts, "self", found.self_ns);
	json_number(&self->columns->facts, "of", found.total_ns);
	return 0;
}

static int sandwich_read(const struct slice *slice, void *context)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };

	return slice_gather(slice, /* is_by_thread */ false, &profile)
		       ? -ENOMEM
		       : sandwich_fill(context, &profile);
}

/* Lines take longer to resolve than names: those of a live session are resolved on request. */
int answer_sandwich(struct ui *ui, const struct ui_command *command, struct reply *reply,
		    struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);

	if (!session)
		return err->code;
	if (ui_session_is_live(session) &&
	    live_find_lines(session->live, command->name, command->module))
		return err_set(err, -ENOMEM, "lines: no memory");
	return table_write(ui, command, sandwich_read, reply, err);
}

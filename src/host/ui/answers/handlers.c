/*
 * The table of handlers, and what all answers have in common.
 */
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <string.h>

static ui_handler *const handlers[UI_VERBS] = {
#define ROUTE(VERB, handler, ...) [UI_##VERB] = answer_##handler,
#include "host/ui/request/routes.def"
};

static int answer_fill(struct answer *self, const struct route *route)
{
	const struct ui_range *range = &self->command->range;

	if (route->parameters & PARAMETER_SESSION || strchr(route->path, '#')) {
		self->session = sessions_find(&self->ui->sessions, range->session, self->err);
		if (!self->session)
			return self->err->code;
	}
	if (route->parameters & PARAMETER_KIND &&
	    ui_session_follow_kind(self->session, self->command->kind, self->err))
		return self->err->code;
	return handlers[self->command->verb](self);
}

int answer_make(struct ui *ui, const struct ui_command *command, struct reply *reply,
		struct err *err)
{
	const struct route *route = &routes[command->verb];
	bool is_table = route->traits & ROUTE_TABLE, is_file = route->traits & ROUTE_FILE;
	struct json object = { .out = reply->out };
	struct answer self = { .ui = ui,
			       .command = command,
			       .reply = reply,
			       .json = &object,
			       .err = err,
			       .make = answer_make };
	int r = 0;

	if (is_table) {
		self.json = &self.columns.facts;
		r = columns_init(&self.columns);
		reply->head.type = command->is_json ? UI_TYPE_JSON : UI_TYPE_COLUMNS;
	} else if (!is_file) {
		json_object(&object, NULL);
	}
	if (!r)
		r = answer_fill(&self, route);
	if (!r && is_table)
		r = columns_write(&self.columns, command->is_json, reply->out);
	else if (!r && !is_file)
		json_object_end(&object);
	columns_done(&self.columns);
	if (r == -EFBIG && !err->code)
		return err_set(err, r, "the answer is too large");
	return r && !err->code ? err_set(err, r, "%s: no memory", route->path) : r;
}

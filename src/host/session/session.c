/*
 * The order of a visit.  Host only.
 */
#include "host/session/session.h"

#include "host/session/tools.h"
#include "host/session/unload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_options(const struct session_options *options, struct err *err)
{
	if (options->tool_count > AGENT_TOOLS_MAX) {
		err_set(err, -E2BIG, "more than %d tools", AGENT_TOOLS_MAX);
		return err_exit(err, EXIT_USAGE);
	}
	for (size_t i = 0; i < options->variable_count; i++) {
		const char *variable = options->variables[i], *equals = strchr(variable, '=');

		if (equals && equals != variable)
			continue;
		err_set(err, -EINVAL, "'%s' is not NAME=VALUE", variable);
		return err_exit(err, EXIT_USAGE);
	}
	return 0;
}

static int add_variable(char *room, size_t size, size_t *used, const char *variable,
			struct err *err)
{
	const char *equals = strchr(variable, '=');
	size_t length = strlen(variable) + 1;

	if (length > size - *used)
		return err_set(err, -E2BIG, "too many variables");
	memcpy(room + *used, variable, length);
	room[*used + (size_t)(equals - variable)] = 0;
	*used += length;
	return 0;
}

static int publish_variables(struct session *self, const struct session_options *options,
			     struct err *err)
{
	union {
		struct control_environ list;
		char bytes[CONTROL_MAX_BYTES];
	} message = { 0 };
	char *room = (char *)(&message.list + 1);
	struct control_reply reply;
	size_t used = 0;

	for (size_t i = 0; i < options->variable_count; i++)
		if (add_variable(room, sizeof(message) - sizeof(message.list), &used,
				 options->variables[i], err))
			return err->code;
	control_header_init(&message.list.header, CONTROL_ENVIRON, sizeof(message.list) + used);
	message.list.count = (uint32_t)options->variable_count;
	message.list.bytes = (uint32_t)used;
	return link_ask(&self->attachment.link, &self->attachment.target, &message.list.header,
			NULL, &reply, err);
}

static int load_tools(struct session *self, const struct session_options *options, struct err *err)
{
	for (size_t i = 0; i < options->tool_count; i++) {
		struct session_tool *tool = &self->tools[self->tool_count++];
		struct err why;

		if (!tool_load(self, options->tools[i], tool, &why))
			continue;
		self->failed_tools++;
		if (options->is_strict || why.code == -ESRCH) {
			*err = why;
			return why.code;
		}
	}
	return 0;
}

static int settle_in(struct session *self, const struct session_options *options, struct err *err)
{
	int r = options->variable_count ? publish_variables(self, options, err) : 0;

	return r ? r : load_tools(self, options, err);
}

int session_open(struct session *ret, pid_t pid, const struct session_options *options,
		 struct err *err)
{
	struct attach_options attach = options->attach;
	struct session_left left;
	struct err ignored;
	int r;

	memset(ret, 0, sizeof(*ret));
	attach.has_variables = options->variable_count > 0;
	r = check_options(options, err);
	if (!r)
		r = attach_open(&ret->attachment, pid, &attach, err);
	if (r)
		return r;
	r = settle_in(ret, options, err);
	if (r && err->code != -ESRCH &&
	    session_leave(ret, !ret->attachment.report.was_resident, &left, &ignored))
		err_why(err, "and detaching failed: %s", ignored.what);
	if (r)
		session_close(ret);
	return r;
}

/* Tools that are in use stay, and with them the agent. */
static int leave_and_unload(struct session *self, struct session_left *left, struct err *err)
{
	struct attachment *attachment = &self->attachment;
	struct agent_page before;
	struct control_reply reply;
	int r;

	if (resident_refresh(&attachment->target, &attachment->resident))
		return err_set(err, -ENOENT, "the agent's page cannot be read");
	before = attachment->resident.page;
	r = unload_find_reasons(self, left, err);
	if (r)
		return r;
	r = attach_leave(attachment, left->count == 0, &reply, err);
	if (r || left->count)
		return r;
	if (reply.text[0])
		snprintf(left->items[left->count++], sizeof(left->items[0]), "%.255s", reply.text);
	return unload_find_leftovers(self, &before, left, err);
}

int session_leave(struct session *session, bool unload, struct session_left *ret_left,
		  struct err *err)
{
	struct control_reply reply;

	ret_left->count = 0;
	if (unload)
		return leave_and_unload(session, ret_left, err);
	return attach_leave(&session->attachment, false, &reply, err);
}

void session_close(struct session *session)
{
	attach_close(&session->attachment);
}

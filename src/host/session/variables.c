/*
 * Builds the CONTROL_ENVIRON message.
 */
#include "host/session/variables.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SENT_PREFIX "ROCP"

/* These name libraries for the caller's own process, or for a start, not for an attach. */
static const char *const never_sent[] = { "ROCPROFILER_REGISTER_LIBRARY", "ROCP_TOOL_LIBRARIES" };

struct variables {
	union {
		struct control_environ list;
		char bytes[CONTROL_MAX_BYTES];
	} message;
	size_t used; /* bytes behind the head */
	uint32_t count;
};

int variables_check(const struct session_options *options, struct err *err)
{
	for (size_t i = 0; i < options->variable_count; i++) {
		const char *variable = options->variables[i], *equals = strchr(variable, '=');

		if (equals && equals != variable)
			continue;
		err_set(err, -EINVAL, "'%s' is not NAME=VALUE", variable);
		return err_exit(err, EXIT_USAGE);
	}
	return 0;
}

static int add_bytes(struct variables *self, const void *bytes, size_t size, uint32_t count,
		     struct err *err)
{
	char *room = (char *)(&self->message.list + 1);

	if (size > sizeof(self->message) - sizeof(self->message.list) - self->used)
		return err_set(err, -E2BIG, "too many variables, or too long ones");
	memcpy(room + self->used, bytes, size);
	self->used += size;
	self->count += count;
	return 0;
}

/* Adds "NAME=VALUE" as a pair. */
static int variables_add(struct variables *self, const char *variable, struct err *err)
{
	char *at = (char *)(&self->message.list + 1) + self->used;
	const char *equals = strchr(variable, '=');
	int r = add_bytes(self, variable, strlen(variable) + 1, 1, err);

	if (!r)
		at[equals - variable] = 0;
	return r;
}

static bool has_name(const char *variable, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(variable, name, length) && variable[length] == '=';
}

static bool is_given(const struct session_options *options, const char *variable)
{
	size_t length = (size_t)(strchr(variable, '=') - variable);

	for (size_t i = 0; i < options->variable_count; i++)
		if (!strncmp(options->variables[i], variable, length + 1))
			return true;
	return false;
}

static bool is_sent(const struct session_options *options, const char *variable)
{
	if (strncmp(variable, SENT_PREFIX, strlen(SENT_PREFIX)) || !strchr(variable, '='))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(never_sent); i++)
		if (has_name(variable, never_sent[i]))
			return false;
	return !is_given(options, variable);
}

bool variables_are_given(const struct session_options *options)
{
	if (options->variable_count)
		return true;
	for (char **at = environ; options->tool_count && at && *at; at++)
		if (is_sent(options, *at))
			return true;
	return false;
}

static int add_callers(struct variables *self, const struct session_options *options,
		       struct err *err)
{
	int r = 0;

	for (char **at = environ; !r && at && *at; at++)
		if (is_sent(options, *at))
			r = variables_add(self, *at, err);
	return r;
}

static int variables_collect(struct variables *self, const struct session_options *options,
			     const char *const *extra, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < options->variable_count; i++)
		r = variables_add(self, options->variables[i], err);
	if (!r && options->tool_count)
		r = add_callers(self, options, err);
	if (!r && options->tool_count)
		r = add_bytes(self, ATTACHED_MARKERS, sizeof(ATTACHED_MARKERS) - 1,
			      ATTACHED_MARKER_COUNT, err);
	for (; !r && extra && *extra; extra++)
		r = variables_add(self, *extra, err);
	return r;
}

int variables_publish(struct session *session, const struct session_options *options,
		      const char *const *extra, struct err *err)
{
	bool is_denied = session->attachment.report.denies_variables;
	struct variables self = { .used = 0 };
	struct control_reply reply;
	int r;

	if (is_denied && !variables_are_given(options))
		return 0; /* without variables, the marks are not worth a refusal */
	r = variables_collect(&self, options, extra, err);
	if (r || !self.count)
		return r;
	control_header_init(&self.message.list.header, CONTROL_ENVIRON,
			    sizeof(self.message.list) + self.used);
	self.message.list.count = self.count;
	self.message.list.bytes = (uint32_t)self.used;
	r = link_ask(&session->attachment.link, &session->attachment.target,
		     &self.message.list.header, -1, &reply, err);
	return r ? err_while(err, "publish variables") : 0;
}

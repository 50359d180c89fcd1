/*
 * Builds the CONTROL_ENVIRON message.
 */
#include "host/session/steps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SENT_PREFIX "ROCP"

/* These name libraries for the caller's own process, or for a start, not for an attach. */
static const char *const never_sent[] = { "ROCPROFILER_REGISTER_LIBRARY=", "ROCP_TOOL_LIBRARIES=" };

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

/* One of the caller's, unless the options have one of that name. */
static bool is_sent(const struct session_options *options, const char *variable)
{
	const char *equals = strchr(variable, '=');

	if (strncmp(variable, SENT_PREFIX, strlen(SENT_PREFIX)) || !equals)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(never_sent); i++)
		if (!strncmp(variable, never_sent[i], (size_t)(equals - variable) + 1))
			return false;
	for (size_t i = 0; i < options->variable_count; i++)
		if (!strncmp(options->variables[i], variable, (size_t)(equals - variable) + 1))
			return false;
	return true;
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

static int variables_collect(struct variables *self, const struct session_options *options,
			     const char *const *extra, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < options->variable_count; i++)
		r = variables_add(self, options->variables[i], err);
	for (char **at = environ; !r && options->tool_count && at && *at; at++)
		if (is_sent(options, *at))
			r = variables_add(self, *at, err);
	if (!r && options->tool_count)
		r = add_bytes(self, ATTACHED_MARKERS, sizeof(ATTACHED_MARKERS) - 1,
			      ATTACHED_MARKER_COUNT, err);
	for (; !r && extra && *extra; extra++)
		r = variables_add(self, *extra, err);
	return r;
}

int variables_publish(struct attachment *attachment, const struct session_options *options,
		      const char *const *extra, struct err *err)
{
	struct variables self = { .used = 0 };
	int r;

	if (attachment->report.denies_variables && !variables_are_given(options))
		return 0; /* without variables, the marks are not worth a refusal */
	r = variables_collect(&self, options, extra, err);
	if (r || !self.count)
		return r;
	self.message.list.header =
		order_header(CONTROL_ENVIRON, sizeof(self.message.list) + self.used, 0);
	self.message.list.count = self.count;
	self.message.list.bytes = (uint32_t)self.used;
	r = attach_order(attachment, &self.message.list.header, -1, NULL, err);
	return r ? err_while(err, "publish variables") : 0;
}

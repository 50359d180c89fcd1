/*
 * Runs inside the target, on application threads that register a runtime.
 */
#include "compat/register/switches.h"

#include "shared/base/macros.h"

#include <stdlib.h>
#include <strings.h>

/* The build's default without the variable; the name is AMD's. */
#ifndef ROCP_REG_DEFAULT_ATTACHMENT
#define ROCP_REG_DEFAULT_ATTACHMENT 0
#endif

static const char *const words_for_no[] = { "0", "false", "off", "no", "n", "f" };

/* The newest name first. */
static const char *const attach_names[] = {
	"ROCP_TOOL_ATTACH",
	"ROCPROFILER_REGISTER_ATTACHMENT_ENABLED",
	"ROCPROFILER_REGISTER_ATTACHMENT_QUEUES_ENABLED",
	"ROCPROFILER_REGISTER_ALWAYS_SUPPORT_ATTACH",
};

/* A variable that is set to something, or NULL. */
static const char *value_of(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static bool is_yes(const char *value)
{
	for (unsigned i = 0; i < ARRAY_SIZE(words_for_no); i++)
		if (!strcasecmp(value, words_for_no[i]))
			return false;
	return true;
}

static bool read_switch(const char *name, bool otherwise)
{
	const char *value = value_of(name);

	return value ? is_yes(value) : otherwise;
}

bool switch_enabled(void)
{
	return read_switch("ROCPROFILER_REGISTER_ENABLED", true);
}

bool switch_secure(void)
{
	return read_switch("ROCPROFILER_REGISTER_SECURE", false);
}

bool switch_force_load(void)
{
	return read_switch("ROCPROFILER_REGISTER_FORCE_LOAD", switch_tools() || switch_library());
}

/* The environment at the loading of the library.  Later calls are on threads unknown to the
 * program, which may be changing its environment. */
static enum { NOT_READ, SAYS_NOTHING, SAYS_NO, SAYS_YES } attach_wish;

static void read_attach(void)
{
	attach_wish = SAYS_NOTHING;
	for (unsigned i = 0; i < ARRAY_SIZE(attach_names); i++)
		if (value_of(attach_names[i])) {
			attach_wish = is_yes(value_of(attach_names[i])) ? SAYS_YES : SAYS_NO;
			return;
		}
}

bool switch_attach(void)
{
	if (attach_wish == NOT_READ)
		read_attach();
	return attach_wish != SAYS_NO;
}

bool switch_listen(void)
{
	return switch_attach() && (attach_wish == SAYS_YES || ROCP_REG_DEFAULT_ATTACHMENT);
}

const char *switch_library(void)
{
	return value_of("ROCPROFILER_REGISTER_LIBRARY");
}

const char *switch_tools(void)
{
	return value_of("ROCP_TOOL_LIBRARIES");
}

/*
 * Reads the list of tools.  secure_getenv: a user who starts a privileged program must not choose
 * what it loads into others.
 */
#include "tool_list.h"

#include "log.h"

#include "host/core/cleanup.h"
#include "shared/base/macros.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEPARATORS ":, "
#define TRACER     "librocprofiler-sdk-tool.so"

/* The second is the name before AMD's first release. */
static const char *const list_variables[] = {
	"ROCPROF_ATTACH_TOOL_LIBRARY",
	"ROCPROFILER_REGISTER_ATTACHMENT_TOOL_LIB",
};

/* AMD's first script named the attach library by the variable that now names tools. */
static const char *const attach_libraries[] = {
	"librocprofv3-attach.so",
	"librocprofiler-attach.so",
	"librocprofiler-sdk-rocattach.so",
};

static bool is_named(const char *path, const char *library)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(library);

	return !strncmp(name, library, length) && (!name[length] || name[length] == '.');
}

static const char *list_text(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(list_variables); i++) {
		const char *text = secure_getenv(list_variables[i]);

		if (text && *text)
			return text;
	}
	if (secure_getenv("ROCP_TOOL_LIBRARIES"))
		log_say(LOG_WARNING, "ROCP_TOOL_LIBRARIES is for programs that are being started; "
				     "ROCPROF_ATTACH_TOOL_LIBRARY names tools to attach");
	return "";
}

static char *find_in(const char *directory, size_t length, const char *name)
{
	char path[PATH_MAX];

	if (!length ||
	    snprintf(path, sizeof(path), "%.*s/%s", (int)length, directory, name) >= PATH_MAX)
		return NULL;
	return access(path, R_OK) ? NULL : strdup(path);
}

static char *find_beside_us(const char *name)
{
	CLEANUP(free) char *path = NULL;
	Dl_info self;

	if (!dladdr((const void *)list_variables, &self))
		return NULL;
	path = realpath(self.dli_fname, NULL);
	return path ? find_in(path, (size_t)(strrchr(path, '/') - path), name) : NULL;
}

/* A name without a directory is looked for beside this library, then in LD_LIBRARY_PATH. */
static char *tool_resolve(const char *name)
{
	const char *list = strchr(name, '/') ? NULL : secure_getenv("LD_LIBRARY_PATH");
	char *found = strchr(name, '/') ? NULL : find_beside_us(name);

	while (list && *list && !found) {
		size_t length = strcspn(list, ":");

		found = find_in(list, length, name);
		list += length + (list[length] == ':');
	}
	return found ? found : strdup(name);
}

static rocattach_status_t tool_add(struct tool_list *list, const char *name,
				   struct outcome *outcome)
{
	char *path;

	if (is_named(name, TRACER)) {
		list->has_tracer = true;
		return ROCATTACH_STATUS_SUCCESS;
	}
	if (list->count == TOOL_LIST_MAX)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "more than %d tools are named", TOOL_LIST_MAX);
	path = tool_resolve(name);
	if (!path)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR, "out of memory");
	log_say(LOG_TRACE, "tool: %s", path);
	list->items[list->count++] = path;
	return ROCATTACH_STATUS_SUCCESS;
}

static rocattach_status_t tools_split(struct tool_list *list, const char *text,
				      struct outcome *outcome)
{
	while (*(text += strspn(text, SEPARATORS))) {
		size_t length = strcspn(text, SEPARATORS);
		char name[PATH_MAX];
		bool is_tool = true;

		if (length >= sizeof(name))
			return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
					   "the name of a tool is too long");
		memcpy(name, text, length);
		name[length] = 0;
		for (size_t i = 0; i < ARRAY_SIZE(attach_libraries); i++)
			is_tool &= !is_named(name, attach_libraries[i]);
		if (is_tool && tool_add(list, name, outcome))
			return outcome->status;
		text += length;
	}
	return ROCATTACH_STATUS_SUCCESS;
}

rocattach_status_t tool_list_read(struct tool_list *ret, struct outcome *outcome)
{
	rocattach_status_t status;

	ret->count = 0;
	ret->has_tracer = false;
	status = tools_split(ret, list_text(), outcome);
	if (!ret->count) /* AMD's default */
		ret->has_tracer = true;
	if (status)
		tool_list_free(ret);
	return status;
}

void tool_list_free(struct tool_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

/*
 * Attaching through liblimpet, which does all the work in a process of its own; and the tools in
 * the environment of the caller.  secure_getenv: a user who starts a privileged program must not
 * choose what it loads into others.
 */
#include "visit.h"

#include "host/api/rocprofv3.h"
#include "host/core/cleanup.h"
#include "shared/base/macros.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEPARATORS ":, "
#define TRACER     "librocprofiler-sdk-tool.so"

#define TOOL_LIST_MAX 16 /* as many as fit into one process */

struct tool_list {
	char *items[TOOL_LIST_MAX];
	size_t count;
	bool has_tracer; /* limpet's own, by AMD's name for its own, or because nothing is named */
};

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

static void tool_list_free(struct tool_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

/* A file need not be there. */
static rocattach_status_t tool_list_read(struct tool_list *ret, struct outcome *outcome)
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

static void success_report(const struct visit *visit, const struct limpet_report *report,
			   const struct limpet_error *error)
{
	char text[sizeof(error->why) + 128];

	if (report->failed_tools)
		snprintf(text, sizeof(text), "attached to %d, but not with every tool:\n%s",
			 visit->pid, error->why);
	else
		snprintf(text, sizeof(text), "%zu of its descendants are skipped:\n%s",
			 report->skipped, error->why);
	if (report->failed_tools || report->skipped)
		log_lines(LOG_WARNING, text);
	log_say(LOG_INFO, "attached to %d in %.1f ms, thread %d was paused for %.3f ms", visit->pid,
		(double)report->attach_ns / 1e6, report->thread, (double)report->pause_ns / 1e6);
}

static rocattach_status_t visit_enter(struct visit *visit, const struct tool_list *tools,
				      bool with_children, struct outcome *outcome)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	struct limpet_options options = LIMPET_OPTIONS_INIT;
	struct limpet_report report = LIMPET_REPORT_INIT;

	options.tools = (const char *const *)tools->items;
	options.tool_count = tools->count;
	options.flags = with_children ? LIMPET_CHILDREN : 0;
	/* A single tool that fails is the failure of it all; of several, the others go on. */
	if (tools->count == 1)
		options.flags |= LIMPET_STRICT;
	visit->target = limpet_open(visit->pid, &error);
	if (!visit->target || limpet_attach(visit->target, &options, &report, &error))
		return outcome_set_error(outcome, &error);
	if (report.failed_tools == tools->count) {
		error.code = -EIO;
		snprintf(error.what, sizeof(error.what), "no tool could be attached to %d",
			 visit->pid);
		return outcome_set_error(outcome, &error);
	}
	success_report(visit, &report, &error);
	return ROCATTACH_STATUS_SUCCESS;
}

static void level_say(int level, const char *text)
{
	log_lines((enum log_level)level, text);
}

static rocattach_status_t begin_tracing(struct visit *visit, const struct tool_list *tools,
					bool with_children, struct outcome *outcome)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	const struct limpet_rocprofv3_options options = {
		.struct_size = sizeof(options),
		.pid = visit->pid,
		.has_children = with_children,
		.tools = (const char *const *)tools->items,
		.tool_count = tools->count,
		.say = level_say,
	};

	visit->tracing = limpet_private_rocprofv3_begin(&options, &error);
	return visit->tracing ? ROCATTACH_STATUS_SUCCESS : outcome_set_error(outcome, &error);
}

static void visit_release(struct visit *visit)
{
	limpet_close(visit->target);
	if (visit->pidfd >= 0)
		close(visit->pidfd);
	*visit = (struct visit){ .pidfd = -1 };
}

rocattach_status_t visit_begin(struct visit *ret, int pid, bool with_children,
			       struct outcome *outcome)
{
	struct tool_list tools;

	*ret = (struct visit){ .pid = pid, .pidfd = -1 };
	outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
	if (pid <= 0)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "%d is not a process ID", pid);
	if (tool_list_read(&tools, outcome))
		return outcome->status;
	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (tools.has_tracer)
		begin_tracing(ret, &tools, with_children, outcome);
	else
		visit_enter(ret, &tools, with_children, outcome);
	if (outcome->status)
		visit_release(ret);
	tool_list_free(&tools);
	return outcome->status;
}

rocattach_status_t visit_end(struct visit *visit, struct outcome *outcome)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	bool is_traced = visit->tracing != NULL;
	int r = is_traced ? limpet_private_rocprofv3_end(visit->tracing, &error)
			  : limpet_detach(visit->target, 0, &error);

	outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
	if (r)
		outcome_set_error(outcome, &error);
	else if (is_traced)
		log_say(LOG_TRACE, "the files of %d are written", visit->pid);
	else
		log_say(LOG_INFO, "detached from %d", visit->pid);
	visit_release(visit);
	return outcome->status;
}

bool visit_is_open(const struct visit *visit)
{
	return visit->target || visit->tracing;
}

bool visit_is_over(const struct visit *visit)
{
	struct pollfd ended = { visit->pidfd, POLLIN, 0 };

	return visit->pidfd >= 0 && poll(&ended, 1, 0) == 1;
}

/*
 * limpet attach: load tools into a running process, and detach when done.
 */
#include "host/attach/listener.h"
#include "host/cli/attach/departure.h"
#include "host/cli/attach/tree_visit.h"
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/ending.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/process/forks/scope.h"
#include "host/session/register_libraries.h"
#include "host/session/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct attach_values {
	const char *pid;
	struct option_list tools, libraries, variables;
	uint64_t duration_ns, timeout_ns;
	bool unload, is_strict, force, resumes, has_children, all_descendants, is_json;
};

#define TOOLS_TEXT_MAX 16384
#define LOOK_NS        500000000ull
#define FIELD(name)    offsetof(struct attach_values, name)

static const struct option_desc attach_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 't', "tool", "A.so[:B.so]", "load tool libraries (rocprofiler_configure)", OPTION_LIST,
	  FIELD(tools) },
	{ 'l', "load", "LIB.so", "load any library; only its constructor runs", OPTION_LIST,
	  FIELD(libraries) },
	{ 'e', "env", "NAME=VALUE", "set a variable for the tools", OPTION_LIST, FIELD(variables) },
	{ 'd', "duration", "TIME", "detach after TIME (10 or 10s, 500ms, 1m)", OPTION_DURATION,
	  FIELD(duration_ns) },
	{ 0, "tool-timeout", "TIME", "limit each call of a tool to TIME (10s)", OPTION_DURATION,
	  FIELD(timeout_ns) },
	{ 'u', "unload", NULL, "unmap everything on detach", OPTION_FLAG, FIELD(unload) },
	{ 's', "strict", NULL, "undo the attach when one tool fails", OPTION_FLAG,
	  FIELD(is_strict) },
	{ 'f', "force", NULL, "go on where seccomp filters cannot be read", OPTION_FLAG,
	  FIELD(force) },
	{ 'c', "cont", NULL, "continue a process that job control stopped", OPTION_FLAG,
	  FIELD(resumes) },
	{ 'C', "children", NULL, "attach to its descendants too, also to those started later",
	  OPTION_FLAG, FIELD(has_children) },
	{ 0, "all-descendants", NULL, "with --children: allow any number of them, of any user",
	  OPTION_FLAG, FIELD(all_descendants) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

/* The paths of all --tool options, which may hold several each. */
struct tool_list {
	char text[TOOLS_TEXT_MAX];
	const char *items[AGENT_TOOLS_MAX + 1];
	size_t used, count;
};

static int refuse_tools(struct err *err)
{
	err_set(err, -E2BIG, "more than %d tools, or too long names", AGENT_TOOLS_MAX);
	return err_exit(err, EXIT_USAGE);
}

static int split_tools(const struct option_list *given, struct tool_list *ret, struct err *err)
{
	for (size_t i = 0; i < given->count; i++) {
		char *rest = ret->text + ret->used, *one;
		size_t size = strlen(given->items[i]) + 1;

		if (size > sizeof(ret->text) - ret->used)
			return refuse_tools(err);
		memcpy(rest, given->items[i], size);
		ret->used += size;
		while ((one = strsep(&rest, ":, "))) {
			if (*one && ret->count == AGENT_TOOLS_MAX)
				return refuse_tools(err);
			if (*one)
				ret->items[ret->count++] = one;
		}
	}
	return 0;
}

static const char *const method_names[] = {
	[BOOT_WAY_THREAD] = "thread",
	[BOOT_WAY_CALL] = "call",
	[BOOT_WAY_LISTENER] = "listener",
};

/* Names since 0.1.0, under "way". */
static const char *const way_names[] = {
	[BOOT_WAY_THREAD] = "thread",
	[BOOT_WAY_CALL] = "call",
	[BOOT_WAY_LISTENER] = "door",
};

static void print_attached_json(const struct session *session)
{
	const struct attach_report *report = &session->attachment.report;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "attached");
	json_signed(&json, "pid", session->attachment.target.process.pid);
	json_signed(&json, "tid", report->tid);
	json_text(&json, "comm", session->attachment.target.process.status.name);
	json_text(&json, "method", method_names[report->way]);
	json_text(&json, "way", way_names[report->way]);
	if (report->refusal)
		json_text(&json, "listener_refused", listener_refusal_text(report->refusal));
	json_bool(&json, "reattach", report->was_resident);
	json_bool(&json, "realtime", report->has_realtime_priority);
	json_number(&json, "pause_ns", report->pause_ns);
	json_number(&json, "interrupt_ns", report->interrupt_ns);
	json_number(&json, "attach_ns", report->attach_ns);
	json_list(&json, "tools");
	for (size_t i = 0; i < session->tool_count; i++) {
		json_object(&json, NULL);
		json_text(&json, "path", session->tools[i].path);
		json_bool(&json, "ok", session->tools[i].is_ok);
		json_bool(&json, "plain", session->tools[i].is_plain);
		json_bool(&json, "takes_part", session->tools[i].takes_part);
		json_bool(&json, "by_content", session->tools[i].by_content);
		json_text(&json, "error", session->tools[i].error);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_bool(&json, "notices_rights", !session->attachment.report.unnoticed[0]);
	if (session->attachment.report.unnoticed[0])
		json_text(&json, "unnoticed", session->attachment.report.unnoticed);
	json_object_end(&json);
}

static void print_tool(const struct session_tool *tool)
{
	const char *state = tool->is_plain     ? "loaded"
			    : tool->takes_part ? "attached"
					       : "loaded, takes no part (it returned NULL)";

	if (tool->is_ok)
		print(stdout, "  tool %s: %s%s\n", tool->path, state,
		      tool->by_content ? " (by content: the target does not see the file)" : "");
}

static void print_attached(const struct session *session)
{
	const struct attachment *attachment = &session->attachment;
	const struct attach_report *report = &attachment->report;
	char name[96];

	print(stdout,
	      "attached to %s in %.1f ms%s: ", target_name(&attachment->target, name, sizeof(name)),
	      (double)report->attach_ns / 1e6,
	      report->was_resident ? " (the agent was there)" : "");
	if (report->way == BOOT_WAY_LISTENER)
		puts("by its register library, no thread was paused");
	else
		print(stdout, "thread %d was paused for %.3f ms\n", report->tid,
		      (double)report->pause_ns / 1e6);
	if (report->way == BOOT_WAY_CALL)
		puts("  musl: a waiting thread of the program started ours (no thread of glibc's to build on)");
	if (report->refusal)
		print(stdout, "  one stop was needed: its listener refused limpet, as %s\n",
		      listener_refusal_text(report->refusal));
	for (size_t i = 0; i < session->tool_count; i++)
		print_tool(&session->tools[i]);
	if (report->unnoticed[0])
		print(stdout, "  if it gives up rights, limpet sees that up to 200 ms later: %s\n",
		      report->unnoticed);
	fflush(stdout);
	for (size_t i = 0; i < session->tool_count; i++)
		if (!session->tools[i].is_ok)
			print(stderr, "warning: %s\n", session->tools[i].error);
	if (report->warning[0])
		print(stderr, "warning: %s\n", report->warning);
}

static void show_attached(const struct session *session, bool is_json)
{
	if (is_json)
		print_attached_json(session);
	else
		print_attached(session);
}

static void print_detached(const struct session *session, enum ending ending, bool unloaded,
			   const struct session_left *left, bool is_json)
{
	char words[96];
	struct departure departure = {
		.pid = session->attachment.target.process.pid,
		.reason = ending_name(ending),
		.words = words,
		.is_unloaded = unloaded,
		.left = left,
	};

	snprintf(words, sizeof(words), "detached (%s)%s", departure.reason,
		 unloaded                ? ", nothing of limpet is left"
		 : ending == ENDING_EXIT ? ", the process has ended"
					 : "");
	departure_print(&departure, is_json);
}

/* The target may end during the detach: that is an end too. */
static int attach_end_session(struct session *session, const struct attach_values *values,
			      enum ending ending, struct err *err)
{
	struct session_left left = { 0 };
	int r = 0;

	if (ending == ENDING_LEFT)
		r = link_explain_farewell(err);
	else if (ending != ENDING_EXIT)
		r = session_leave(session, values->unload, &left, err);
	if (r && ending != ENDING_LEFT && !target_lives(&session->attachment.target)) {
		ending = ENDING_EXIT;
		memset(err, 0, sizeof(*err));
		r = 0;
	}
	if (!r || ending == ENDING_LEFT)
		print_detached(session, ending,
			       !r && values->unload && ending != ENDING_EXIT && !left.count, &left,
			       values->is_json);
	return r;
}

/* Searches for runtimes loaded meanwhile, if there are tools that use them. */
static enum ending watch_and_wait(struct session *session, const struct session_options *options,
				  int signals, uint64_t duration_ns)
{
	const struct attachment *attachment = &session->attachment;
	uint64_t begin_ns = now_ns(), gone_ns = 0;
	uint64_t turn_ns = options->tool_count ? LOOK_NS : UINT64_MAX;
	struct registers_watch watch = { 0 };
	enum ending ending;

	do {
		uint64_t left_ns = duration_ns - MIN(duration_ns, gone_ns);

		ending = ending_wait_beside(signals, attachment->target.pidfd,
					    attachment->link.socket, MIN(left_ns, turn_ns));
		gone_ns = now_ns() - begin_ns;
		if (ending == ENDING_DURATION && gone_ns < duration_ns)
			registers_query_again(&session->attachment, options, &watch);
	} while (ending == ENDING_DURATION && gone_ns < duration_ns);
	return ending;
}

/* An agent whose connection is closed by the program, as when that closes all descriptors, is only
 * missed at the detach. */
static enum ending await_ending(struct session *session, const struct session_options *options,
				int signals, uint64_t duration_ns)
{
	const struct attachment *attachment = &session->attachment;
	uint64_t begin_ns = now_ns(), gone_ns;
	enum ending ending = watch_and_wait(session, options, signals, duration_ns);

	if (link_has_farewell(&attachment->link))
		return ENDING_LEFT;
	if (ending != ENDING_LEFT)
		return ending;
	gone_ns = now_ns() - begin_ns;
	return ending_wait(signals, attachment->target.pidfd,
			   duration_ns == UINT64_MAX ? UINT64_MAX
						     : duration_ns - MIN(duration_ns, gone_ns));
}

static int attach_and_stay(pid_t pid, const struct attach_values *values, struct err *err)
{
	struct tool_list tools = { 0 }, libraries = { 0 };
	struct session_options options = {
		.attach = { .force = values->force, .resumes = values->resumes },
		.tools = tools.items,
		.libraries = libraries.items,
		.timeout_ms = (uint32_t)MIN(values->timeout_ns / 1000000, UINT32_MAX),
		.variables = values->variables.items,
		.variable_count = values->variables.count,
		.is_strict = values->is_strict,
		.all_descendants = values->all_descendants,
	};
	static struct session session;
	enum ending ending;
	int signals, r = split_tools(&values->tools, &tools, err);

	if (!r)
		r = split_tools(&values->libraries, &libraries, err);
	signals = r ? r : ending_prepare(err);
	if (signals < 0)
		return signals;
	options.tool_count = tools.count;
	options.library_count = libraries.count;
	if (values->has_children)
		return tree_visit(pid,
				  &(struct tree_visit){ &options, values->duration_ns,
							values->unload, values->is_json, signals,
							show_attached },
				  err);
	r = session_open(&session, pid, &options, err);
	if (r)
		return r;
	show_attached(&session, values->is_json);
	if (!values->is_json && values->duration_ns == UINT64_MAX && isatty(STDIN_FILENO))
		fputs("press Enter or Ctrl-C to detach\n", stderr);
	ending = await_ending(&session, &options, signals, values->duration_ns);
	r = attach_end_session(&session, values, ending, err);
	if (!r && session.failed_tools)
		r = err_set(err, -ENOEXEC, "%zu of %zu tools failed", session.failed_tools,
			    session.tool_count);
	session_close(&session);
	return r;
}

/* Before signals are held back: Ctrl-C at the question ends limpet. */
static int scope_settle(pid_t pid, struct attach_values *values, struct err *err)
{
	return values->has_children ? scope_confirm(&pid, 1, &values->all_descendants, err) : 0;
}

static enum exit_code attach_run(char **argv)
{
	struct attach_values values = { .duration_ns = UINT64_MAX };
	struct err err = { 0 };
	int operands = options_parse(attach_options, argv, &values, &err);
	pid_t pid = 0;

	/* A failure without a message still counts as one. */
	if (operands >= 0 && !operand_process(values.pid, argv, operands, &pid, &err) &&
	    (scope_settle(pid, &values, &err) || attach_and_stay(pid, &values, &err)) && !err.code)
		err_set(&err, -EIO, "it failed without saying why");
	return report_end("attach", values.is_json, &err);
}

const struct command command_attach = {
	.name = "attach",
	.summary = "load tools into a running process, and detach when done",
	.usage =
		"PID [--tool A.so[:B.so]] [--load LIB.so] [--env NAME=VALUE] [--duration TIME] [--children] [--unload] [--json]",
	.options = attach_options,
	.run = attach_run,
	.notes =
		"Stays until Enter, Ctrl-C, SIGTERM, the duration, or the end of the process.\n"
		"A tool exports rocprofiler_configure (limpet/tool.h); variables of limpet's own\n"
		"environment that begin with ROCP are published for the tools.\n"
		"\n"
		"examples:\n"
		"  limpet attach 4711 --tool ./libmytool.so\n"
		"  limpet attach 4711 --tool liba.so:libb.so --env MODE=fast --duration 10s --unload\n",
};

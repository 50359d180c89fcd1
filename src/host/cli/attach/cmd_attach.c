/*
 * limpet attach: load tools into a running process, and detach when done.
 */
#include "host/cli/attach/attach.h"
#include "host/cli/common/operand.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/ending.h"
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
	{ 't', "tool", "A.so[:B.so]", "load tool libraries (rocprofiler_configure)", FIELD(tools),
	  OPTION_LIST },
	{ 'l', "load", "LIB.so", "load any library; only its constructor runs", FIELD(libraries),
	  OPTION_LIST },
	{ 'e', "env", "NAME=VALUE", "set a variable for the tools", FIELD(variables), OPTION_LIST },
	{ 'd', "duration", "TIME", "detach after TIME (10 or 10s, 500ms, 1m)", FIELD(duration_ns),
	  OPTION_DURATION },
	{ 0, "tool-timeout", "TIME", "limit each call of a tool to TIME (10s)", FIELD(timeout_ns),
	  OPTION_DURATION },
	{ 'u', "unload", NULL, "unmap everything on detach", FIELD(unload) },
	{ 's', "strict", NULL, "undo the attach when one tool fails", FIELD(is_strict) },
	{ 'f', "force", NULL, "attach even where seccomp filters cannot be read", FIELD(force) },
	{ 'c', "cont", NULL, "continue a process that job control stopped", FIELD(resumes) },
	{ 'C', "children", NULL, "attach to its descendants too, also to those started later",
	  FIELD(has_children) },
	{ 0, "all-descendants", NULL, "with --children: allow any number of them, of any user",
	  FIELD(all_descendants) },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
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

static void print_detached(const struct session *session, enum ending ending, bool is_unloaded,
			   const struct session_left *left, bool is_json)
{
	const struct departure departure = { session->attachment.target.process.pid,
					     ending_name(ending), is_unloaded, left };
	char words[96];

	snprintf(words, sizeof(words), "detached (%s)%s", departure.reason,
		 is_unloaded             ? ", nothing of limpet is left"
		 : ending == ENDING_EXIT ? ", the process has ended"
					 : "");
	show_detached(&departure, words, is_json);
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
		r = session_detach(session, values->unload, &left, err);
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

/* Meanwhile searches for runtimes that were loaded, if there are tools that use them.  An agent
 * whose connection is closed by the program, as when that closes all descriptors, is only missed at
 * the detach. */
static enum ending await_ending(struct session *session, const struct session_options *options,
				int signals, uint64_t duration_ns)
{
	struct attachment *attachment = &session->attachment;
	uint64_t begin_ns = now_ns(), gone_ns = 0;
	uint64_t turn_ns = options->tool_count ? LOOK_NS : UINT64_MAX;
	struct registers_watch watch = { 0 };
	int socket = attachment->link.socket;

	for (;;) {
		uint64_t left_ns = duration_ns - MIN(duration_ns, gone_ns);
		enum ending ending = ending_wait_beside(signals, attachment->target.pidfd, socket,
							MIN(left_ns, turn_ns));

		gone_ns = now_ns() - begin_ns;
		if (ending == ENDING_DURATION && gone_ns < duration_ns) {
			registers_query_again(attachment, options, &watch);
			continue;
		}
		if (socket >= 0 && link_has_farewell(&attachment->link))
			return ENDING_LEFT;
		if (ending != ENDING_LEFT)
			return ending;
		socket = -1;
		turn_ns = UINT64_MAX;
	}
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
							values->unload, values->is_json, signals },
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

static int attach_run(const struct command_line *line, struct err *err)
{
	struct attach_values *values = line->values;
	pid_t pid;
	int r = operand_process(line, values->pid, &pid, err);

	/* Before signals are held back: Ctrl-C at the question ends limpet. */
	if (!r && values->has_children)
		r = scope_confirm(&pid, 1, &values->all_descendants, err);
	return r ? r : attach_and_stay(pid, values, err);
}

const struct command command_attach = {
	.name = "attach",
	.summary = "load tools into a running process, and detach when done",
	.usage =
		"PID [--tool A.so[:B.so]] [--load LIB.so] [--env NAME=VALUE] [--duration TIME] [--children] [--unload] [--json]",
	.options = attach_options,
	.values_size = sizeof(struct attach_values),
	.defaults = &(const struct attach_values){ .duration_ns = UINT64_MAX },
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

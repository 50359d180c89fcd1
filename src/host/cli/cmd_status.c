/*
 * limpet status: the description that an agent in a process keeps of itself, read from outside
 * without stopping anything.
 */
#include "host/attach/facts/resident.h"
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/session/inside.h"

#include <time.h>

struct status_values {
	const char *pid;
	bool is_json;
};

static const struct option_desc status_options[] = {
	OPERAND_OPTION(offsetof(struct status_values, pid)),
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG,
	  offsetof(struct status_values, is_json) },
	{ 0 },
};

static const char *const ends[] = {
	[AGENT_END_NONE] = "",
	[AGENT_END_ASKED] = "detached",
	[AGENT_END_HOST_DIED] = "its limpet died",
	[AGENT_END_PROTOCOL] = "its limpet sent an invalid message",
	[AGENT_END_ALONE] = "the program's last thread has ended",
	[AGENT_END_IDENTITY] =
		"the program changed its user, capabilities, root, namespaces or filters",
};

static const char *const tool_states[TOOL_STATES] = {
	[TOOL_IDLE] = "idle",         [TOOL_ATTACHING] = "attaching",
	[TOOL_ATTACHED] = "attached", [TOOL_DETACHING] = "detaching",
	[TOOL_DETACHED] = "detached", [TOOL_FAILED] = "failed",
};

/* Attached through the register library inside the target: the agent has no control thread. */
static bool is_attached_from_inside(const struct resident *resident)
{
	return resident->page.state == AGENT_STATE_ATTACHED && !resident->page.control_tid;
}

/* In words: a forked child has its parent's page, but not its parent's agent. */
static const char *state_name(const struct target *target, const struct resident *resident)
{
	if (resident->page.pid != target->process.status.inner_pid)
		return "inherited";
	if (resident_is_held(target, resident) || is_attached_from_inside(resident))
		return "attached";
	return resident->page.state == AGENT_STATE_LOADED ? "loaded" : "resting";
}

static const char *end_name(const struct agent_page *page)
{
	return page->end_reason < ARRAY_SIZE(ends) ? ends[page->end_reason] : "?";
}

static void format_time(uint64_t time_ns, char *ret, size_t room)
{
	time_t seconds = (time_t)(time_ns / 1000000000u);
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(ret, room, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void print_tool(const struct agent_tool *tool)
{
	if (!tool->handle)
		return;
	print(stdout, "  tool      %s: %s%s%s%s\n", tool->path,
	      tool->is_plain ? "loaded" : tool_states[tool->state],
	      tool->by_content ? " (by content)" : "", tool->reason[0] ? ": " : "", tool->reason);
}

static void print_tool_json(struct json *json, const struct agent_tool *tool)
{
	if (!tool->handle)
		return;
	json_object(json, NULL);
	json_text(json, "path", tool->path);
	json_text(json, "state", tool_states[tool->state]);
	json_bool(json, "plain", tool->is_plain);
	json_bool(json, "by_content", tool->by_content);
	json_number(json, "attaches", tool->attaches);
	json_number(json, "contexts", tool->contexts);
	json_bool(json, "inside", tool->is_inside);
	json_text(json, "reason", tool->reason);
	json_object_end(json);
}

static void print_table_json(struct json *json, const struct agent_table *table)
{
	char address[32];

	json_object(json, NULL);
	json_text(json, "name", table->name);
	json_number(json, "version", table->version);
	json_number(json, "instance", table->instance);
	json_list(json, "addresses");
	for (unsigned i = 0; i < table->part_count; i++) {
		snprintf(address, sizeof(address), "0x%lx", table->parts[i]);
		json_text(json, NULL, address);
	}
	json_list_end(json);
	json_object_end(json);
}

static void print_status(const struct target *target, const struct resident *resident)
{
	const struct agent_page *page = &resident->page;
	const char *state = state_name(target, resident);
	size_t inside = inside_count(target, page);
	char since[64];

	format_time(page->since_ns, since, sizeof(since));
	print(stdout, "%d (%s): %s since %s\n", target->process.pid, target->process.status.name,
	      state, since);
	if (resident_is_held(target, resident))
		print(stdout, "  held by   %d (%s)\n", page->holder_pid, page->holder_name);
	else if (is_attached_from_inside(resident))
		print(stdout, "  held by   the program itself (rocprofiler_register_attach)\n");
	else if (page->end_reason)
		print(stdout, "  ended     %s\n", end_name(page));
	print(stdout, "  attached  %u time%s so far\n", page->attaches, plural(page->attaches));
	if (inside)
		print(stdout, "  inside    %zu thread%s in traced calls that have not returned\n",
		      inside, inside == 1 ? " waits" : "s wait");
	print(stdout, "  dropped   %lu record%s\n", page->dropped, plural(page->dropped));
	for (unsigned i = 0; i < page->tool_count; i++)
		print_tool(&page->tools[i]);
	for (unsigned i = 0; i < page->table_count; i++)
		print(stdout, "  tables    %s %lu\n", page->tables[i].name,
		      page->tables[i].version);
	if (page->environment_changed)
		print(stdout, "  variables of limpet are published\n");
}

static void print_status_json(const struct target *target, const struct resident *resident)
{
	const struct agent_page *page = &resident->page;
	bool is_held = resident_is_held(target, resident);
	struct json json = { .out = stdout };
	char since[64];

	format_time(page->since_ns, since, sizeof(since));
	json_object(&json, NULL);
	json_text(&json, "event", "status");
	json_signed(&json, "pid", target->process.pid);
	json_text(&json, "comm", target->process.status.name);
	json_text(&json, "state", state_name(target, resident));
	json_text(&json, "since", since);
	json_signed(&json, "holder", is_held ? page->holder_pid : 0);
	json_text(&json, "holder_name", is_held ? page->holder_name : "");
	json_text(&json, "ended", end_name(page));
	json_number(&json, "attaches", page->attaches);
	json_number(&json, "inside", inside_count(target, page));
	json_number(&json, "dropped", page->dropped);
	json_bool(&json, "environment", page->environment_changed);
	json_list(&json, "tools");
	for (unsigned i = 0; i < page->tool_count; i++)
		print_tool_json(&json, &page->tools[i]);
	json_list_end(&json);
	json_list(&json, "tables");
	for (unsigned i = 0; i < page->table_count; i++)
		print_table_json(&json, &page->tables[i]);
	json_list_end(&json);
	json_object_end(&json);
}

static int status_show(pid_t pid, bool is_json, struct err *err)
{
	struct resident resident;
	struct target target;
	int r = target_inspect(&target, pid, err);

	if (r)
		return r;
	r = resident_find(&target, &resident);
	if (r)
		resident_explain(&target, r, err);
	else if (is_json)
		print_status_json(&target, &resident);
	else
		print_status(&target, &resident);
	target_close(&target);
	return r;
}

static enum exit_code status_run(char **argv)
{
	struct status_values values = { 0 };
	struct err err = { 0 };
	int operands = options_parse(status_options, argv, &values, &err);
	pid_t pid = 0;

	if (operands >= 0 && !operand_process(values.pid, argv, operands, &pid, &err))
		status_show(pid, values.is_json, &err);
	return report_end("status", values.is_json, &err);
}

const struct command command_status = {
	.name = "status",
	.summary = "show what limpet is doing in a process",
	.usage = "PID [--json]",
	.options = status_options,
	.run = status_run,
};

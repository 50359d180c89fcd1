/*
 * limpet status: the description that an agent in a process keeps of itself, read from outside
 * without stopping anything.
 */
#include "host/attach/facts/resident.h"
#include "host/cli/common/operand.h"
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
	{ 'j', "json", NULL, "print one JSON object per line",
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

static void print_status(const struct target *target, const struct resident *resident,
			 const char *since, const char *end, size_t inside)
{
	const struct agent_page *page = &resident->page;

	print(stdout, "%d (%s): %s since %s\n", target->process.pid, target->process.status.name,
	      state_name(target, resident), since);
	if (resident_is_held(target, resident))
		print(stdout, "  held by   %d (%s)\n", page->holder_pid, page->holder_name);
	else if (is_attached_from_inside(resident))
		print(stdout, "  held by   the program itself (rocprofiler_register_attach)\n");
	else if (page->end_reason)
		print(stdout, "  ended     %s\n", end);
	print(stdout, "  attached  %u time%s so far\n", page->attaches, plural(page->attaches));
	print_counted(
		stdout, inside,
		"  inside    # thread{ waits|s wait} in traced calls that have not returned\n");
	print(stdout, "  dropped   %lu record%s\n", page->dropped, plural(page->dropped));
	for (unsigned i = 0; i < page->tool_count; i++) {
		const struct agent_tool *tool = &page->tools[i];

		if (tool->handle)
			print(stdout, "  tool      %s: %s%s%s%s\n", tool->path,
			      tool->is_plain ? "loaded" : tool_states[tool->state],
			      tool->by_content ? " (by content)" : "", tool->reason[0] ? ": " : "",
			      tool->reason);
	}
	for (unsigned i = 0; i < page->table_count; i++)
		print(stdout, "  tables    %s %lu\n", page->tables[i].name,
		      page->tables[i].version);
	if (page->environment_changed)
		print(stdout, "  variables of limpet are published\n");
}

static void write_tool(struct json *json, const struct agent_tool *tool)
{
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

static void write_table(struct json *json, const struct agent_table *table)
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

static void write_status(const struct target *target, const struct resident *resident,
			 const char *since, const char *end, size_t inside)
{
	const struct agent_page *page = &resident->page;
	bool is_held = resident_is_held(target, resident);
	struct json json = json_event(stdout, "status");

	json_signed(&json, "pid", target->process.pid);
	json_text(&json, "comm", target->process.status.name);
	json_text(&json, "state", state_name(target, resident));
	json_text(&json, "since", since);
	json_signed(&json, "holder", is_held ? page->holder_pid : 0);
	json_text(&json, "holder_name", is_held ? page->holder_name : "");
	json_text(&json, "ended", end);
	json_number(&json, "attaches", page->attaches);
	json_number(&json, "inside", inside);
	json_number(&json, "dropped", page->dropped);
	json_bool(&json, "environment", page->environment_changed);
	json_list(&json, "tools");
	for (unsigned i = 0; i < page->tool_count; i++)
		if (page->tools[i].handle)
			write_tool(&json, &page->tools[i]);
	json_list_end(&json);
	json_list(&json, "tables");
	for (unsigned i = 0; i < page->table_count; i++)
		write_table(&json, &page->tables[i]);
	json_list_end(&json);
	json_object_end(&json);
}

static int status_run(const struct command_line *line, struct err *err)
{
	const struct status_values *values = line->values;
	struct resident resident;
	struct target target;
	const char *end = "?";
	char since[64];
	time_t seconds;
	struct tm parts;
	pid_t pid;
	int r = operand_process(line, values->pid, &pid, err);

	if (!r)
		r = target_inspect(&target, pid, err);
	if (r)
		return r;
	r = resident_find(&target, &resident);
	if (r) {
		resident_explain(&target, r, err);
	} else {
		if (resident.page.end_reason < ARRAY_SIZE(ends))
			end = ends[resident.page.end_reason];
		seconds = (time_t)(resident.page.since_ns / 1000000000u);
		gmtime_r(&seconds, &parts);
		strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", &parts);
		(values->is_json ? write_status : print_status)(&target, &resident, since, end,
								inside_count(&target, &resident));
	}
	target_close(&target);
	return r;
}

const struct command command_status = {
	.name = "status",
	.summary = "show what limpet is doing in a process",
	.usage = "PID [--json]",
	.options = status_options,
	.values_size = sizeof(struct status_values),
	.run = status_run,
};

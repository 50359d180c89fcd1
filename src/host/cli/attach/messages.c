/*
 * Prints the begin and the end of a session, with what stays in the target.
 */
#include "host/cli/attach/attach.h"

#include "host/attach/listener.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

static const char *const method_names[] = {
	[BOOT_WAY_THREAD] = "thread",
	[BOOT_WAY_CALL] = "call",
	[BOOT_WAY_LISTENER] = "listener",
};

static void write_attached(const struct session *session)
{
	const struct attach_report *report = &session->attachment.report;
	const char *method = method_names[report->way];
	struct json json = json_event(stdout, "attached");

	json_signed(&json, "pid", session->attachment.target.process.pid);
	json_signed(&json, "tid", report->tid);
	json_text(&json, "comm", session->attachment.target.process.status.name);
	json_text(&json, "method", method);
	json_text(&json, "way", report->way == BOOT_WAY_LISTENER ? "door" : method); /* in 0.1.0 */
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
	json_bool(&json, "notices_rights", !report->unnoticed[0]);
	if (report->unnoticed[0])
		json_text(&json, "unnoticed", report->unnoticed);
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
		puts("  musl: a waiting thread of the target started limpet's thread");
	if (report->refusal)
		print(stdout,
		      "  a thread was paused because the target's listener refused limpet: %s\n",
		      listener_refusal_text(report->refusal));
	for (size_t i = 0; i < session->tool_count; i++)
		print_tool(&session->tools[i]);
	if (report->unnoticed[0])
		print(stdout, "  if it gives up rights, limpet notices up to 200 ms later: %s\n",
		      report->unnoticed);
	fflush(stdout);
	for (size_t i = 0; i < session->tool_count; i++)
		if (!session->tools[i].is_ok)
			print(stderr, "warning: %s\n", session->tools[i].error);
	if (report->warning[0])
		print(stderr, "warning: %s\n", report->warning);
}

void show_attached(const struct session *session, bool is_json)
{
	(is_json ? write_attached : print_attached)(session);
}

void show_detached(const struct departure *departure, const char *line, bool is_json)
{
	const struct session_left *left = departure->left;

	if (is_json) {
		struct json json = json_event(stdout, "detached");

		json_signed(&json, "pid", departure->pid);
		json_text(&json, "reason", departure->reason);
		json_bool(&json, "unloaded", departure->is_unloaded);
		json_list(&json, "left");
		for (size_t i = 0; i < left->count; i++)
			json_text(&json, NULL, left->items[i]);
		json_list_end(&json);
		json_object_end(&json);
		return;
	}
	print(stdout, "%s\n", line);
	for (size_t i = 0; i < left->count; i++)
		print(stdout, "  stays: %s\n", left->items[i]);
}

/*
 * Attaching through liblimpet, which does all the work in a process of its own.
 */
#include "visit.h"

#include "log.h"
#include "tool_list.h"

#include "host/api/rocprofv3.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/*
 * Runs a session's steps in order: attach, variables, API tables, tools, detach, unload.
 */
#include "host/session/session.h"

#include "host/attach/listener.h"
#include "host/core/cleanup.h"
#include "host/process/inspect/attachable.h"
#include "host/session/register_libraries.h"
#include "host/session/steps.h"
#include "host/session/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CALLS_OF_TOOL 2 /* at most, in one order */

static int check_options(const struct session_options *options, struct err *err)
{
	if (options->tool_count + options->library_count + !!options->trace > AGENT_TOOLS_MAX) {
		err_set(err, -E2BIG, "more than %d tools", AGENT_TOOLS_MAX);
		return err_exit(err, EXIT_USAGE);
	}
	return variables_check(options, err);
}

/* Sets err only if the user may not attach to the process.  A listener may still admit where ptrace
 * is forbidden. */
static bool is_forbidden(pid_t pid, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	struct err why = { 0 };

	if (listener_exists(pid) || process_read(pid, &process, &why) ||
	    !process_judge(&process, &why) || why.exit != EXIT_NOT_PERMITTED)
		return false;
	*err = why;
	return true;
}

/* If at least one file is good the session goes on with it, as it does for later failures.  A user
 * who may not attach at all gets that error, not one about files. */
static int check_files(pid_t pid, const struct session_options *options, struct err *err)
{
	struct err why = { 0 };
	size_t count = options->tool_count + options->library_count;
	size_t bad = tools_check(options->tools, options->tool_count, &why);

	bad += tools_check(options->libraries, options->library_count, &why);
	if (!bad || (!options->is_strict && bad < count))
		return 0;
	if (is_forbidden(pid, err))
		return err->code;
	*err = why;
	if (bad > 1) /* each has an exit code of its own */
		err->code = -ECANCELED;
	return err->code;
}

/* Records a tool's result; fails the session if it is strict. */
static int session_judge(struct session *self, const struct session_options *options,
			 struct session_tool *tool, const struct err *why, struct err *err)
{
	tool->is_ok = !why->code;
	if (!why->code)
		return 0;
	self->failed_tools++;
	snprintf(tool->error, sizeof(tool->error), "%s", why->what);
	if (!options->is_strict && why->code != -ESRCH)
		return 0;
	*err = *why;
	return why->code;
}

static int load_list(struct session *self, const struct session_options *options,
		     const char *const *paths, size_t count, bool is_plain, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		struct session_tool *tool = &self->tools[self->tool_count++];
		struct err why = { 0 };

		snprintf(tool->path, sizeof(tool->path), "%s", paths[i]);
		tool->is_plain = is_plain;
		if (tool_load(&self->attachment, paths[i], tool, &why))
			err_while(&why, "tool '%s'", paths[i]);
		r = session_judge(self, options, tool, &why, err);
	}
	return r;
}

/* Unlike other tools, the tracer is required: without it there is nothing to record. */
static int load_tracer(struct session *self, const struct trace *trace, struct err *err)
{
	struct session_tool *tool = &self->tools[self->tool_count++];

	__atomic_store_n(&trace->rings->probes, RINGS_PROBES_UNKNOWN, __ATOMIC_RELAXED);
	snprintf(tool->path, sizeof(tool->path), "%s", TRACER_NAME);
	tool->is_ok = !trace_load(&self->attachment, trace, tool, err);
	return tool->is_ok ? 0 : err_while(err, "limpet's tracer");
}

/* Runs a step with all tools before the next step with any: tools are written for AMD's order. */
static int run_step(struct session *self, const struct session_options *options,
		    enum tool_step step, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->tool_count; i++) {
		struct session_tool *tool = &self->tools[i];
		struct err why = { 0 };

		if (!tool->is_ok || tool->is_plain)
			continue;
		if (tool_step(&self->attachment, tool, step, &why))
			err_while(&why, "tool '%s'", tool->path);
		r = session_judge(self, options, tool, &why, err);
	}
	if (r || step == STEP_ATTACH || !self->follows_counters)
		return r;
	return counters_follow(&self->attachment, step == STEP_INITIALIZE, err);
}

/* The process may have its own librocprofiler-sdk.so.1, which configures no tool of limpet's.  A
 * call that one thread's filters allow may be denied by another's. */
static int verify_tracer(struct session *self, const struct trace *trace, struct err *err)
{
	const struct session_tool *tool = &self->tools[self->tool_count - 1];
	struct attach_report *report = &self->attachment.report;
	bool are_alike = false;
	int r;

	if (!tool->is_ok)
		return err_set(err, -ENOEXEC, "%s", tool->error);
	if (!tool->takes_part) {
		err_set(err, -ENOEXEC, "limpet's tracer was not configured");
		return err_why(
			err,
			"the process had loaded another librocprofiler-sdk.so.1 before limpet's");
	}
	r = filters_compare(&self->attachment, &are_alike, err);
	report->denies_stacks |= !are_alike;
	report->denies_probes = !are_alike;
	__atomic_store_n(&trace->rings->probes,
			 are_alike ? RINGS_PROBES_ALLOWED : RINGS_PROBES_DENIED, __ATOMIC_RELAXED);
	return r;
}

static int settle_in(struct session *self, const struct session_options *options, struct err *err)
{
	struct attachment *attachment = &self->attachment;
	const struct trace *trace = options->trace;
	struct registers_watch watch = { 0 };
	int r = variables_publish(attachment, options, NULL, err);

	if (attachment->report.denies_variables && options->tool_count)
		snprintf(
			attachment->report.warning, sizeof(attachment->report.warning),
			"a seccomp filter forbids to tell the tools by variables that they were attached");
	if (!r && (options->tool_count || (trace && trace->domains_wanted & DOMAINS_TABLES)))
		r = registers_query(attachment, options, &watch, err);
	if (!r)
		r = load_list(self, options, options->libraries, options->library_count, true, err);
	if (!r)
		r = load_list(self, options, options->tools, options->tool_count, false, err);
	if (!r)
		r = counters_send(attachment, options, &self->follows_counters, err);
	if (!r && trace)
		r = load_tracer(self, trace, err);
	for (enum tool_step step = STEP_CONFIGURE; !r && step < TOOL_STEPS; step++)
		r = run_step(self, options, step, err);
	if (!r && trace)
		r = verify_tracer(self, trace, err);
	else if (!r)
		notice_open(attachment, self->failed_tools);
	return r;
}

/* How long an order may take: all tools that are or will be loaded, one after the other. */
static uint32_t patience_ms(const struct session *self, const struct session_options *options)
{
	bool is_known = self->attachment.target.memory >= 0;
	size_t count = options->tool_count + options->library_count + !!options->trace;

	count += is_known ? self->attachment.resident.page.tool_count : AGENT_TOOLS_MAX;
	return (uint32_t)(CALLS_OF_TOOL * MIN(count, (size_t)AGENT_TOOLS_MAX)) *
	       options->timeout_ms;
}

int session_open(struct session *ret, pid_t pid, const struct session_options *given,
		 struct err *err)
{
	struct session_options options = *given;
	struct session_left left;
	struct err ignored;
	int r;

	memset(ret, 0, sizeof(*ret));
	options.attach.has_variables = variables_are_given(&options);
	options.attach.wishes_variables = options.tool_count;
	options.attach.traces = options.trace;
	if (options.trace) {
		options.attach.ring_bytes = options.trace->layout.ring_size;
		options.attach.ring_count = options.trace->layout.slot_count;
	}
	options.attach.wishes_stacks = options.trace && options.trace->wants_stacks;
	options.timeout_ms = options.timeout_ms ? options.timeout_ms : SESSION_TIMEOUT_MS;
	r = check_options(&options, err);
	if (!r)
		r = check_files(pid, &options, err);
	if (!r)
		r = attach_open(&ret->attachment, pid, &options.attach, err);
	if (r)
		return r;
	ret->attachment.link.timeout_ms = options.timeout_ms;
	ret->attachment.link.patience_ms = patience_ms(ret, &options);
	ret->attachment.link.has_tools = options.tool_count || options.library_count;
	if (ret->attachment.target.memory >= 0)
		ret->attachment.link.resident = &ret->attachment.resident;
	r = settle_in(ret, &options, err);
	if (r && err->code != -ESRCH && !ret->attachment.link.is_silent &&
	    session_detach(ret, !ret->attachment.report.was_resident, &left, &ignored))
		err_why(err, "and detaching failed: %s", ignored.what);
	if (r)
		session_close(ret);
	return r;
}

/* Detaches and unloads.  Tools that are in use stay mapped, and with them the agent. */
static int detach_and_unload(struct attachment *attachment, struct session_left *left,
			     struct err *err)
{
	struct agent_page before;
	struct control_reply reply;
	int r;

	if (attachment->target.memory < 0) {
		session_left_add(
			left,
			"the tools and the agent: limpet may not read the memory of the program, so it cannot prove that no thread is inside");
		return attach_detach(attachment, false, &reply, err);
	}
	if (resident_refresh(&attachment->target, &attachment->resident))
		return err_set(err, -ENOENT, "the agent's page cannot be read");
	before = attachment->resident.page;
	r = unload_find_reasons(attachment, left, err);
	if (r)
		return r;
	r = attach_detach(attachment, left->count == 0, &reply, err);
	if (r || left->count)
		return r;
	if (reply.text[0])
		session_left_add(left, "%s", reply.text);
	else
		unload_find_agent(attachment, left);
	return unload_find_leftovers(attachment, &before, left, err);
}

/* Makes the tools rest, naming those that fail to, and detaches. */
static int quiet_and_detach(struct attachment *attachment, bool unload, struct session_left *left,
			    struct err *err)
{
	struct control_quiet order = { .header = order_header(CONTROL_QUIET, sizeof(order),
							      unload ? CONTROL_FINALIZE : 0),
				       .timeout_ms = attachment->link.timeout_ms };
	struct control_reply reply;
	int r = attach_order(attachment, &order.header, -1, &reply, err);

	if (r)
		return r;
	if (reply.value)
		session_left_add(left, "%s", reply.text);
	return unload ? detach_and_unload(attachment, left, err)
		      : attach_detach(attachment, false, &reply, err);
}

/* -ENOTCONN: the agent is detaching by itself at this moment. */
int session_detach(struct session *session, bool unload, struct session_left *ret_left,
		   struct err *err)
{
	const char *stays;
	int r;

	ret_left->count = 0;
	r = quiet_and_detach(&session->attachment, unload, ret_left, err);
	stays = r && r != -ENOTCONN ? NULL : single_restore(&session->attachment);
	if (stays)
		session_left_add(ret_left, "%s", stays);
	if (r != -ENOTCONN)
		return r;
	if (unload)
		session_left_add(ret_left, "the tools and the agent, at rest: %s", err->what);
	memset(err, 0, sizeof(*err));
	return 0;
}

void session_close(struct session *session)
{
	attach_close(&session->attachment);
}

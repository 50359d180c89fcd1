/*
 * The C API of include/limpet/limpet.h over the session.  Runs in the caller's process: no output,
 * no signal handlers, no children that the caller could see.
 */
#include "host/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT const char *limpet_version(void)
{
	return LIMPET_VERSION;
}

EXPORT struct limpet *limpet_open(int pid, struct limpet_error *error)
{
	struct limpet *self = calloc(1, sizeof(*self));
	struct process process;
	struct err err = { 0 };

	if (!self) {
		err_set(&err, -ENOMEM, "no memory");
	} else if (!process_read(pid, &process, &err)) {
		self->start_tick = process.identity.start_tick;
		process_done(&process);
		self->pid = pid;
		api_report(&err, error);
		return self;
	}
	free(self);
	api_report(&err, error);
	return NULL;
}

static struct session_options options_of(const struct limpet_options *options)
{
	return (struct session_options){
		.attach = { .force = options->flags & LIMPET_FORCE,
			    .resumes = options->flags & LIMPET_CONTINUE },
		.tools = options->tools,
		.tool_count = options->tool_count,
		.libraries = options->libraries,
		.library_count = options->library_count,
		.timeout_ms = options->tool_timeout_ms,
		.variables = options->variables,
		.variable_count = options->variable_count,
		.is_strict = options->flags & LIMPET_STRICT,
	};
}

/* One line for each tool that failed without ending the session. */
static void list_failures(const struct session *session, struct err *err)
{
	for (size_t i = 0; i < session->tool_count; i++) {
		size_t used = strlen(err->why);

		if (!session->tools[i].is_ok)
			snprintf(err->why + used, sizeof(err->why) - used, "%s%s", used ? "\n" : "",
				 session->tools[i].error);
	}
}

static struct limpet_report report_of(const struct attach_report *cost)
{
	return (struct limpet_report){
		.thread = cost->tid,
		.was_resident = cost->was_resident,
		.pause_ns = cost->pause_ns,
		.interrupt_ns = cost->interrupt_ns,
		.attach_ns = cost->attach_ns,
	};
}

static int attach_one(struct limpet *self, const struct session_options *options,
		      struct limpet_report *ret, struct err *err)
{
	int r = session_open(&self->session, self->pid, options, err);

	if (r)
		return r;
	*ret = report_of(&self->session.attachment.report);
	ret->failed_tools = self->session.failed_tools;
	ret->processes = 1;
	list_failures(&self->session, err);
	return 0;
}

/* Notes what of limpet's stays in any process. */
static void note_left(const struct tree_event *event, void *context)
{
	struct limpet *self = context;

	if (event->kind != TREE_LEFT)
		return;
	for (size_t i = 0; i < event->left->count && self->left.count < SESSION_LEFT_MAX; i++)
		memcpy(self->left.items[self->left.count++], event->left->items[i],
		       sizeof(self->left.items[0]));
}

static int attach_tree(struct limpet *self, const struct session_options *options,
		       struct limpet_report *ret, struct err *err)
{
	struct tree_options tree = { options, note_left, self };
	struct attach_report cost;
	struct tree_counts counts;
	int r = tree_open(&self->tree, self->pid, &tree, err);

	if (r)
		return r;
	cost = tree_root_report(self->tree);
	counts = tree_count(self->tree);
	*ret = report_of(&cost);
	ret->failed_tools = counts.least_failed;
	ret->processes = counts.attached - counts.ended;
	ret->skipped = counts.skipped;
	tree_complaints(self->tree, err->why, sizeof(err->why));
	return 0;
}

EXPORT int limpet_attach(struct limpet *self, const struct limpet_options *given,
			 struct limpet_report *report, struct limpet_error *error)
{
	struct limpet_options known = LIMPET_OPTIONS_INIT;
	struct limpet_report ours = { 0 };
	struct session_options options;
	struct err err = { 0 };

	api_copy_in(&known, given, sizeof(known));
	options = options_of(&known);
	if (self->is_attached)
		err_set(&err, -EALREADY, "already attached to %d", self->pid);
	else if (known.flags & LIMPET_CHILDREN)
		self->is_attached = !attach_tree(self, &options, &ours, &err);
	else
		self->is_attached = !attach_one(self, &options, &ours, &err);
	if (!err.code)
		api_copy_out(report, &ours, sizeof(ours));
	return api_report(&err, error);
}

static void list_left(const struct session_left *left, struct err *err)
{
	for (size_t i = 0; i < left->count; i++) {
		size_t used = strlen(err->why);

		snprintf(err->why + used, sizeof(err->why) - used, "%s%s", i ? "\n" : "",
			 left->items[i]);
	}
}

static void detach_one(struct limpet *self, bool unload, struct err *err)
{
	if (!session_detach(&self->session, unload, &self->left, err))
		list_left(&self->left, err);
	session_close(&self->session);
}

static void detach_tree(struct limpet *self, bool unload, struct err *err)
{
	self->left.count = 0;
	if (!tree_detach(self->tree, unload, "asked", err))
		list_left(&self->left, err);
	tree_close(self->tree);
	self->tree = NULL;
}

EXPORT int limpet_detach(struct limpet *self, unsigned flags, struct limpet_error *error)
{
	struct err err = { 0 };

	if (!self->is_attached)
		err_set(&err, -ENOTCONN, "not attached to %d", self->pid);
	else if (self->tree)
		detach_tree(self, flags & LIMPET_UNLOAD, &err);
	else
		detach_one(self, flags & LIMPET_UNLOAD, &err);
	self->is_attached = false;
	return api_report(&err, error);
}

static void fill_status(const struct target *target, const struct resident *resident,
			struct limpet_status *ret)
{
	bool is_held = resident_is_held(target, resident);

	ret->state = is_held ? LIMPET_ATTACHED : LIMPET_RESTING;
	ret->holder = is_held ? resident->page.holder_pid : 0;
	ret->since_ns = resident->page.since_ns;
	ret->attaches = resident->page.attaches;
	ret->tools = resident->page.tool_count;
	ret->dropped = resident->page.dropped;
}

/* Finds the agent: 0, -ENOENT when there is none; the error is set for anything else. */
static int agent_find(const struct limpet *self, struct target *target, struct resident *ret,
		      struct err *err)
{
	int r = target_inspect(target, self->pid, err);

	if (r)
		return r;
	r = resident_find(target, ret);
	if (r && r != -ENOENT)
		err_set(err, r, "an agent of another version of limpet is in it");
	return r;
}

EXPORT int limpet_status(struct limpet *self, struct limpet_status *status,
			 struct limpet_error *error)
{
	struct limpet_status ours = { 0 };
	struct resident resident;
	struct target target = { .pidfd = -1, .thread_fd = -1, .memory = -1 };
	struct err err = { 0 };

	if (!agent_find(self, &target, &resident, &err))
		fill_status(&target, &resident, &ours);
	target_close(&target);
	if (!err.code)
		api_copy_out(status, &ours, sizeof(ours));
	return api_report(&err, error);
}

EXPORT int limpet_tool_status(struct limpet *self, unsigned index,
			      struct limpet_tool_status *status, struct limpet_error *error)
{
	struct limpet_tool_status ours = { 0 };
	struct resident resident = { 0 };
	struct target target = { .pidfd = -1, .thread_fd = -1, .memory = -1 };
	const struct agent_tool *tool = &resident.page.tools[index % AGENT_TOOLS_MAX];
	struct err err = { 0 };

	agent_find(self, &target, &resident, &err);
	target_close(&target);
	if (!err.code && index >= resident.page.tool_count)
		err_set(&err, -ENOENT, "there is no tool %u in %d", index, self->pid);
	ours.state = (enum limpet_tool_state)tool->state;
	snprintf(ours.path, sizeof(ours.path), "%s", tool->path);
	snprintf(ours.reason, sizeof(ours.reason), "%s", tool->reason);
	if (!err.code)
		api_copy_out(status, &ours, sizeof(ours));
	return api_report(&err, error);
}

EXPORT void limpet_close(struct limpet *self)
{
	if (!self)
		return;
	if (self->is_attached)
		limpet_detach(self, 0, NULL);
	free(self);
}

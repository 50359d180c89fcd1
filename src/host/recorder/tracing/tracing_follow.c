/*
 * A process that executes another program loses the agent; limpet attaches again, with new memory,
 * and the program is another process in the file.  Calls of the new program before that are not
 * seen.  The agent detaches before a program changes its rights; limpet attaches again, and the
 * recording goes on.
 */
#include "host/core/clock.h"
#include "host/recorder/tracing/tracing_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* How long a program may be starting; PASSING_FOR_NS where it seems to get no processor. */
#define FOLLOW_FOR_NS  5000000000ull
#define PASSING_FOR_NS 30000000000ull
#define TRY_FOR_NS     100000000ull

#define LOOK_AGAIN_NS 1000000 /* while it may be in the middle of exec */

/* A program that changes its rights does so several times in a row; for one that does it all the
 * time the delay doubles. */
#define RETURN_AFTER_NS 50000000ull
#define RETURN_DOUBLED  7u

/* An ending process has no memory left to compare: its state is checked afterwards. */
static bool lives_on(const struct tracing *self, enum identity_change *ret_change)
{
	const struct identity *before = &self->session.attachment.target.process.identity;
	struct process_stat stat;
	struct identity now;

	if (identity_read(self->pid, self->pid, &now, NULL) ||
	    stat_read(self->pid, self->pid, &stat, NULL) || stat.is_exiting)
		return false;
	*ret_change = identity_compare(before, &now);
	return true;
}

/* The agent is gone; after an exec at the latest it is clear whether its program is, too.  An agent
 * that sent a farewell detached by itself. */
static bool lives_on_settled(const struct tracing *self, enum identity_change *ret_change)
{
	uint64_t end_ns = now_ns() + IDENTITY_SETTLES_NS;
	bool lives;

	while ((lives = lives_on(self, ret_change)) && *ret_change == IDENTITY_SAME &&
	       !link_has_farewell(&self->session.attachment.link) && now_ns() < end_ns)
		sleep_ns(LOOK_AGAIN_NS);
	return lives;
}

bool tracing_note_farewell(struct tracing *self)
{
	if (!self->is_attached || !link_has_farewell(&self->session.attachment.link))
		return false;
	self->is_returning = true;
	self->left = self->session.attachment.target.process.identity;
	self->left_ns = now_ns();
	self->return_ns =
		self->left_ns + (RETURN_AFTER_NS << MIN(self->changes.count, RETURN_DOUBLED));
	self->changes.count++;
	return true;
}

/* The agent is gone: with its program, or because the program has closed all descriptors that it
 * does not know. */
bool tracing_note_cut(struct tracing *self)
{
	struct pollfd wait = { self->session.attachment.link.socket, POLLRDHUP, 0 };
	enum identity_change change;
	bool has_changed;

	if (!self->is_attached || poll(&wait, 1, 0) <= 0 || !wait.revents ||
	    !lives_on_settled(self, &change))
		return false;
	has_changed = change == IDENTITY_SAME && tracing_note_farewell(self);
	session_close(&self->session);
	self->is_attached = false;
	self->is_cut_off = change == IDENTITY_SAME && !has_changed;
	self->is_following = change == IDENTITY_EXEC || has_changed;
	self->follow_until_ns = (has_changed ? self->return_ns : now_ns()) + FOLLOW_FOR_NS;
	return true;
}

/* Drains the rings of the old program.  Its import entries and queues are gone with it. */
static int end_program(struct tracing *self, struct err *err)
{
	struct tracing_totals totals;
	int r;

	collector_stop(self->collector);
	r = collector_finish(self->collector, err);
	tracing_totals(self, &totals);
	self->earlier.collected = totals.collected;
	self->earlier.left = totals.left;
	self->found_before |= ~trace_absent(&self->trace);
	collector_free(self->collector);
	self->collector = NULL;
	trace_close(&self->trace);
	target_threads_done(&self->threads);
	self->threads = (struct target_threads){ .pid = self->pid };
	return r;
}

static int move_to(struct tracing *self, const struct trace *trace, struct err *err)
{
	int r = end_program(self, err);

	self->trace = *trace;
	self->is_following = false;
	self->unfollowed.code = 0;
	self->executed++;
	tracing_note_attached(self);
	if (!r)
		r = tracing_begin_program(self, err);
	if (!r)
		tracing_heed_filters(self);
	return r;
}

/* Keeps the first reason: that the process ended meanwhile explains less.  The process may have
 * executed yet another program, for which the time starts again. */
static void keep_reason(struct tracing *self, const struct err *why)
{
	uint64_t more_ns = 0;

	if (!self->unfollowed.code || why->exit != EXIT_NO_PROCESS)
		self->unfollowed = *why;
	if (self->unfollowed.code == -EAGAIN || self->unfollowed.code == -ESTALE)
		more_ns = PASSING_FOR_NS - FOLLOW_FOR_NS;
	if (now_ns() > self->follow_until_ns + more_ns)
		self->is_following = false;
}

/* setpriv and su change their rights, and execute another program right away: that program begins
 * anew, instead of going on. */
static bool has_executed_meanwhile(const struct tracing *self)
{
	struct identity now;

	return !identity_read(self->pid, self->pid, &now, NULL) && now.auxv.size &&
	       identity_compare(&self->left, &now) == IDENTITY_EXEC;
}

static void end_return(struct tracing *self)
{
	self->is_returning = false;
	self->unfollowed.code = 0;
	self->changes.untraced_ns += now_ns() - self->left_ns;
}

/* Attaches again with the same rings and collector. */
static void attach_again(struct tracing *self)
{
	struct session_options options = self->options;
	struct err why = { 0 };

	if (now_ns() < self->return_ns)
		return;
	options.attach.tries_for_ns = TRY_FOR_NS;
	if (tracing_attach(self, &options, &why)) {
		keep_reason(self, &why);
		return;
	}
	end_return(self);
	self->is_following = false;
	self->is_attached = true;
	self->watch = (struct registers_watch){ 0 };
}

int tracing_follow(struct tracing *self, struct err *err)
{
	struct session_options options = self->options;
	struct trace trace;
	struct err why = { 0 };
	int r;

	if (!self->is_following)
		(void)tracing_note_cut(self);
	if (!self->is_following)
		return 0;
	if (self->is_returning && has_executed_meanwhile(self)) {
		end_return(self);
		self->follow_until_ns = now_ns() + FOLLOW_FOR_NS;
	}
	if (self->is_returning) {
		attach_again(self);
		return 0;
	}
	r = trace_open(&trace, &self->given, err);
	if (r)
		return r;
	options.trace = &trace;
	options.attach.tries_for_ns = TRY_FOR_NS;
	if (!session_open(&self->session, self->pid, &options, &why))
		return move_to(self, &trace, err);
	trace_close(&trace);
	keep_reason(self, &why);
	return 0;
}

void tracing_note_attached(struct tracing *self)
{
	self->is_attached = true;
	self->is_cut_off = false;
	self->watch = (struct registers_watch){ 0 };
	snprintf(self->name, sizeof(self->name), "%s",
		 self->session.attachment.target.process.stat.name);
}

/* For a process that ended before the attach only its name shows the exec. */
bool tracing_has_other_name(const struct tracing *self, struct process_stat *ret)
{
	return self->name[0] && !self->unfollowed.code &&
	       !stat_read(self->pid, self->pid, ret, NULL) && ret->is_exiting &&
	       strcmp(ret->name, self->name) != 0;
}

void tracing_count_changes(const struct tracing *self, struct tracing_changes *ret)
{
	*ret = self->changes;
	ret->is_out = self->is_returning;
	if (ret->is_out)
		ret->untraced_ns += now_ns() - self->left_ns;
}

const struct err *tracing_unfollowed(const struct tracing *self)
{
	return self->unfollowed.code ? &self->unfollowed : NULL;
}

/*
 * The thread that follows a family: forks, ends, and execs.  It only reads and takes notes;
 * attaching is the workers' task.
 */
#include "host/core/clock.h"
#include "host/session/trace.h"
#include "host/session/tree/tree_private.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CHECK_NS    20000000ull
#define CHECK_SHARE 20 /* checks may take one part in this many of a processor */
#define EVENTS_MAX  64

/* A process that changes its rights is attached again, after a delay that doubles. */
#define RETURN_AFTER_NS 50000000ull
#define RETURNS_MAX     8u

enum fate {
	FATE_SAME,     /* still the same program and agent */
	FATE_EXECUTED, /* it runs another program, without the agent */
	FATE_AGENTLESS,
	FATE_CHANGED, /* the agent detached, since the program changes its rights */
	FATE_UNCLEAR, /* it is ending, or in the middle of exec */
};

static enum fate tree_follow_compare(const struct member *member, const struct identity *before)
{
	struct identity now;
	struct err ignored;

	if (identity_read(member->pid, member->pid, &now, &ignored) ||
	    (before->auxv.size && !now.auxv.size))
		return FATE_UNCLEAR;
	return identity_compare(before, &now) == IDENTITY_EXEC ? FATE_EXECUTED : FATE_SAME;
}

/* Exec ends all threads but one, and limpet's with them; cheaper to check than the program. */
static bool has_agent_thread(const struct session *session)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", session->attachment.target.process.pid,
		 session->attachment.report.control_tid);
	return access(path, F_OK) == 0;
}

static enum fate find_fate_without_agent(struct member *member)
{
	if (link_has_farewell(&member->session->attachment.link))
		return FATE_CHANGED;
	if (!member->agentless_ns)
		member->agentless_ns = now_ns();
	return now_ns() < member->agentless_ns + IDENTITY_SETTLES_NS ? FATE_UNCLEAR
								     : FATE_AGENTLESS;
}

static enum fate find_fate(struct member *member)
{
	enum fate fate;

	if (member->state == MEMBER_SKIPPED)
		return tree_follow_compare(member, &member->identity);
	if (has_agent_thread(member->session))
		return FATE_SAME;
	fate = tree_follow_compare(member, &member->session->attachment.target.process.identity);
	if (fate != FATE_SAME || !member->session->attachment.report.control_tid)
		return fate;
	return find_fate_without_agent(member);
}

static const char *const reasons[] = {
	[FATE_EXECUTED] = "exec",
	[FATE_AGENTLESS] = "agent",
	[FATE_CHANGED] = "identity",
};

static const char *const losses[] = {
	[FATE_AGENTLESS] = "closed limpet's descriptors, as daemons close all,",
	[FATE_CHANGED] = "changed its identity or confined itself",
};

static void tree_follow_give_up(struct tree *tree, struct member *member)
{
	struct err err;

	err_set(&err, -ECANCELED, "process %d %s and is not attached again", member->pid,
		member->lost_by);
	if (member->changes >= RETURNS_MAX)
		err_why(&err, "it did so %u times", member->changes + 1);
	member_give_up(tree, member, &err);
}

static void come_back(struct tree *tree, struct member *member)
{
	uint64_t pause_ns = RETURN_AFTER_NS << member->changes++;

	member_begin_anew(tree, member);
	member->due_ns = now_ns() + pause_ns;
}

static void tree_follow_check(struct tree *tree, struct member *member)
{
	enum fate fate = find_fate(member);

	if (fate == FATE_SAME || fate == FATE_UNCLEAR)
		return;
	member->lost_by = losses[fate];
	if (member->state == MEMBER_ATTACHED) {
		tree_tell_left(tree, member, reasons[fate]);
		member_drop_session(member);
	}
	if (fate == FATE_EXECUTED)
		member_begin_program(tree, member);
	else if (fate == FATE_CHANGED && member->changes < RETURNS_MAX)
		come_back(tree, member);
	else
		tree_follow_give_up(tree, member);
}

/* The meaning of an exec event depends on the member's state. */
static void on_exec(struct tree *tree, struct member *member)
{
	if (member->state == MEMBER_BUSY) {
		member->has_executed = true;
	} else if (member->state == MEMBER_ATTACHED) {
		tree_follow_check(tree, member);
	} else {
		member_begin_program(tree, member);
	}
}

static void on_birth(const struct fork_event *fork_event, void *context)
{
	struct tree *tree = context;
	struct member *member;

	pthread_mutex_lock(&tree->lock);
	member = member_find(tree, fork_event->lineage.pid);
	if (member && fork_event->is_exec)
		on_exec(tree, member);
	else if (!member && !fork_event->is_exec && tree_claims(tree, &fork_event->lineage))
		member_add(tree, &fork_event->lineage);
	pthread_mutex_unlock(&tree->lock);
}

/* Its pidfd or its socket is ready. */
static void on_sign(struct tree *tree, pid_t pid)
{
	struct member *member;

	pthread_mutex_lock(&tree->lock);
	member = member_find(tree, pid);
	if (member && !member_lives(member)) {
		member->has_ended = true;
		if (member->state != MEMBER_BUSY)
			member_end(tree, member);
	} else if (member && member->state == MEMBER_ATTACHED) {
		tree_follow_check(tree, member);
	}
	pthread_mutex_unlock(&tree->lock);
}

/* The kernel's events include execs; without them each refused program is checked again. */
static void check_all(struct tree *tree, uint64_t *next_ns)
{
	uint64_t begin_ns = now_ns(), end_ns;

	if (begin_ns < *next_ns)
		return;
	pthread_mutex_lock(&tree->lock);
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = tree->members[i];

		if (member->state == MEMBER_ATTACHED ||
		    (member->state == MEMBER_SKIPPED && tree->forks.source != FORKS_EVENTS))
			tree_follow_check(tree, member);
	}
	pthread_mutex_unlock(&tree->lock);
	end_ns = now_ns();
	*next_ns = end_ns + MAX(CHECK_NS, CHECK_SHARE * (end_ns - begin_ns));
}

static bool wants_runtimes(const struct session_options *options)
{
	return options->tool_count ||
	       (options->trace && trace_absent(options->trace) & DOMAINS_TABLES);
}

/* An attached member whose runtimes are due for a query; NULL: none. */
static struct member *find_watched(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = tree->members[i];

		if (member->state == MEMBER_ATTACHED && member->watch.next_ns <= now_ns() &&
		    wants_runtimes(&member->options))
			return member;
	}
	return NULL;
}

/* One at a time, without the lock: the query waits for the member's agent. */
static void watch_runtimes(struct tree *tree)
{
	struct member *member;

	pthread_mutex_lock(&tree->lock);
	member = find_watched(tree);
	if (member) {
		member->state = MEMBER_BUSY;
		pthread_mutex_unlock(&tree->lock);
		registers_ask_again(member->session, &member->options, &member->watch);
		pthread_mutex_lock(&tree->lock);
		/* A member that does not answer must not delay the others. */
		member->watch.next_ns = MAX(member->watch.next_ns, now_ns() + CHECK_NS);
		member->state = MEMBER_ATTACHED;
		if (member->has_ended || !member_lives(member))
			member_end(tree, member);
		else if (member->has_executed)
			tree_follow_check(tree, member);
	}
	pthread_mutex_unlock(&tree->lock);
}

void tree_look(struct tree *tree)
{
	forks_poll(&tree->forks, on_birth, tree);
}

static int wait_ms(const struct tree *tree)
{
	int ms = forks_wait_ms(&tree->forks), check_ms = CHECK_NS / 1000000;

	return ms < 0 ? check_ms : MIN(ms, check_ms);
}

/* Forks are handled before ends: a process that ends now may have had a child just before. */
void *tree_follow(void *argument)
{
	struct tree *tree = argument;
	struct epoll_event events[EVENTS_MAX];
	uint64_t next_check_ns = 0;

	while (!__atomic_load_n(&tree->is_leaving, __ATOMIC_ACQUIRE)) {
		int count = epoll_wait(tree->epoll, events, EVENTS_MAX, wait_ms(tree));

		tree_look(tree);
		for (int i = 0; i < count; i++)
			if (events[i].data.u64)
				on_sign(tree, (pid_t)events[i].data.u64);
		check_all(tree, &next_check_ns);
		watch_runtimes(tree);
	}
	return NULL;
}

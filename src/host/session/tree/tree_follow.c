/*
 * The thread that follows a family: forks, ends, and execs.  It only reads and takes notes;
 * attaching is the workers' task.
 */
#include "host/core/clock.h"
#include "host/process/threads.h"
#include "host/session/trace.h"
#include "host/session/tree/tree_private.h"

#include <errno.h>
#include <sys/epoll.h>

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

static enum fate program_fate(const struct member *member, const struct identity *before)
{
	struct identity now;

	if (identity_read(member->pid, member->pid, &now, NULL) ||
	    (before->auxv.size && !now.auxv.size))
		return FATE_UNCLEAR;
	return identity_compare(before, &now) == IDENTITY_EXEC ? FATE_EXECUTED : FATE_SAME;
}

static enum fate find_fate(struct member *member)
{
	const struct attachment *attachment;
	enum fate fate;

	if (member->state == MEMBER_SKIPPED)
		return program_fate(member, &member->identity);
	attachment = &member->session->attachment;
	/* Exec ends all threads but one, and limpet's with them; cheaper to check than the
	 * program. */
	if (thread_is_there(member->pid, attachment->report.control_tid))
		return FATE_SAME;
	fate = program_fate(member, &attachment->target.process.identity);
	if (fate != FATE_SAME || !attachment->report.control_tid)
		return fate;
	if (link_has_farewell(&attachment->link))
		return FATE_CHANGED;
	if (!member->agentless_ns)
		member->agentless_ns = now_ns();
	return now_ns() < member->agentless_ns + IDENTITY_SETTLES_NS ? FATE_UNCLEAR
								     : FATE_AGENTLESS;
}

static const struct {
	const char *reason, *loss;
} fates[] = {
	[FATE_EXECUTED] = { "exec", NULL },
	[FATE_AGENTLESS] = { "agent", "closed limpet's descriptors, as daemons close all," },
	[FATE_CHANGED] = { "identity", "changed its identity or confined itself" },
};

static void member_abandon(struct tree *tree, struct member *member)
{
	struct err err;

	err_set(&err, -ECANCELED, "process %d %s and is not attached again", member->pid,
		member->lost_by);
	if (member->changes >= RETURNS_MAX)
		err_why(&err, "it did so %u times", member->changes + 1);
	member_report_lost(tree, member, &err);
}

static void member_check(struct tree *tree, struct member *member)
{
	enum fate fate = find_fate(member);

	if (fate == FATE_SAME || fate == FATE_UNCLEAR)
		return;
	member->lost_by = fates[fate].loss;
	if (member->state == MEMBER_ATTACHED) {
		tree_notify_left(tree, member, fates[fate].reason);
		member_drop_session(member);
	}
	if (fate == FATE_EXECUTED) {
		member_begin_program(tree, member);
	} else if (fate == FATE_CHANGED && member->changes < RETURNS_MAX) {
		member_begin_anew(tree, member);
		member->due_ns = now_ns() + (RETURN_AFTER_NS << member->changes++);
	} else {
		member_abandon(tree, member);
	}
}

/* The meaning of an exec event depends on the member's state. */
static void on_exec(struct tree *tree, struct member *member)
{
	if (member->state == MEMBER_BUSY) {
		member->has_executed = true;
	} else if (member->state == MEMBER_ATTACHED) {
		member_check(tree, member);
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
	if (member && !pidfd_lives(member->pidfd)) {
		member->has_ended = true;
		if (member->state != MEMBER_BUSY)
			member_end(tree, member);
	} else if (member && member->state == MEMBER_ATTACHED) {
		member_check(tree, member);
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
			member_check(tree, member);
	}
	pthread_mutex_unlock(&tree->lock);
	end_ns = now_ns();
	*next_ns = end_ns + MAX(CHECK_NS, CHECK_SHARE * (end_ns - begin_ns));
}

/* An attached member whose runtimes are due for a query; NULL: none. */
static struct member *find_watched(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = tree->members[i];
		const struct trace *trace = member->options.trace;

		if (member->state == MEMBER_ATTACHED && member->watch.next_ns <= now_ns() &&
		    (member->options.tool_count || (trace && trace_absent(trace) & DOMAINS_TABLES)))
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
		registers_query_again(&member->session->attachment, &member->options,
				      &member->watch);
		pthread_mutex_lock(&tree->lock);
		/* A member that does not answer must not delay the others. */
		member->watch.next_ns = MAX(member->watch.next_ns, now_ns() + CHECK_NS);
		member->state = MEMBER_ATTACHED;
		if (member->has_ended || !pidfd_lives(member->pidfd))
			member_end(tree, member);
		else if (member->has_executed)
			member_check(tree, member);
	}
	pthread_mutex_unlock(&tree->lock);
}

void tree_poll(struct tree *tree)
{
	forks_poll(&tree->forks, on_birth, tree);
}

/* Forks are handled before ends: a process that ends now may have had a child just before. */
void *tree_follow(void *argument)
{
	struct tree *tree = argument;
	struct epoll_event events[EVENTS_MAX];
	uint64_t next_check_ns = 0;

	while (!__atomic_load_n(&tree->is_leaving, __ATOMIC_ACQUIRE)) {
		int ms = forks_wait_ms(&tree->forks), check_ms = CHECK_NS / 1000000;
		int count = epoll_wait(tree->epoll, events, EVENTS_MAX,
				       ms < 0 ? check_ms : MIN(ms, check_ms));

		tree_poll(tree);
		for (int i = 0; i < count; i++)
			if (events[i].data.u64)
				on_sign(tree, (pid_t)events[i].data.u64);
		check_all(tree, &next_check_ns);
		watch_runtimes(tree);
	}
	return NULL;
}

/*
 * The two threads that attach to members of a family, and detach from them at the end.  A failure
 * of a young process is retried for a while: it may stand between fork and exec, borrow its
 * parent's memory, or not have a C library yet.
 */
#include "host/core/clock.h"
#include "host/process/stat.h"
#include "host/process/status.h"
#include "host/session/tree/tree_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define RETRY_FIRST_NS  1000000ull
#define RETRY_DOUBLINGS 7
#define SLOW_DOUBLINGS  3
#define SLOW_NS         50000000ull
#define PASSING_NS      30000000000ull /* limit for transient states */
#define DELAY_MIN_NS    1000000ull
#define DELAY_MAX_NS    20000000ull

/* attach_open() would wait until a stopped process continues, and a worker with it. */
static int check_stopped(const struct tree *tree, const struct member *member, struct err *err)
{
	struct process_status status;

	if (tree->options.attach.resumes || status_read(member->pid, member->pid, &status, NULL) ||
	    status.state != 'T')
		return 0;
	err_set(err, -EAGAIN, "cannot attach to %d: it is stopped", member->pid);
	err_why(err,
		"job control (SIGSTOP, Ctrl-Z) has stopped it, and what is loaded could not run");
	err_fix(err, "kill -CONT %d, or attach with --cont", member->pid);
	return err_exit(err, EXIT_BUSY);
}

/* The number may have been reused since. */
static int check_same(struct member *member, struct err *err)
{
	struct session_left left;

	if (member->session->attachment.target.process.stat.start_tick == member->start_tick)
		return 0;
	if (!session_detach(member->session, false, &left, err))
		target_fail_ended(err);
	return err->code;
}

/* With the options that the family's owner prepares for this process. */
static int open_session(const struct tree *tree, struct member *member, struct err *err)
{
	void *context = tree->given.context;
	int r = 0;

	member->options = tree->options;
	member->watch = (struct registers_watch){ 0 };
	if (tree->given.prepare)
		r = tree->given.prepare(context, member->pid, &member->options, err);
	if (r)
		return r;
	r = session_open(member->session, member->pid, &member->options, err);
	if (!r) {
		r = check_same(member, err);
		if (r)
			session_close(member->session);
	}
	if (r && tree->given.failed)
		tree->given.failed(context, member->pid);
	return r;
}

/* Without the lock: this takes milliseconds, or seconds. */
static int member_attach(const struct tree *tree, struct member *member, struct err *err)
{
	int r = check_stopped(tree, member, err);

	if (r)
		return r;
	member->session = calloc(1, sizeof(*member->session));
	if (!member->session)
		return err_set(err, -ENOMEM, "no memory for process %d", member->pid);
	r = identity_read(member->pid, member->pid, &member->identity, err);
	if (!r)
		r = open_session(tree, member, err);
	if (r) {
		free(member->session);
		member->session = NULL;
	}
	return r;
}

static void note_tools(struct tree *tree, const struct session *session)
{
	struct tree_counts *counts = &tree->counts;

	counts->failed_tools += session->failed_tools;
	counts->least_failed = counts->attached ? MIN(counts->least_failed, session->failed_tools)
						: session->failed_tools;
	for (size_t i = 0; i < session->tool_count && !tree->first_failure[0]; i++)
		if (!session->tools[i].is_ok)
			snprintf(tree->first_failure, sizeof(tree->first_failure), "%s",
				 session->tools[i].error);
}

static void note_attached(struct tree *tree, struct member *member)
{
	const struct attachment *attachment = &member->session->attachment;
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET,
				     .data.u64 = (uint64_t)member->pid };

	member->state = MEMBER_ATTACHED;
	note_tools(tree, member->session);
	tree->counts.attached += !member->was_attached;
	member->was_attached = true;
	if (member->pid == tree->root)
		tree->root_report = attachment->report;
	/* When the program is replaced, the agent's end of the socket closes. */
	epoll_ctl(tree->epoll, EPOLL_CTL_ADD, attachment->link.socket, &event);
	tree_notify(tree, (struct tree_event){ .kind = TREE_ATTACHED,
					       .pid = member->pid,
					       .session = member->session });
}

/* It gets no processor for its start-up: until then it has no C library, for example. */
static bool is_starved(const struct member *member)
{
	struct process_status status;
	struct process_stat stat;

	return !status_read(member->pid, member->pid, &status, NULL) &&
	       (status.state == 'R' || status.state == 'D') &&
	       !stat_read(member->pid, member->pid, &stat, NULL) && stat.cpu_ns < TREE_YOUTH_NS;
}

/* ESRCH for a living process: it has executed another program meanwhile. */
static bool is_worth_a_try(const struct member *member, const struct err *err)
{
	uint64_t youth_ns = member->is_old ? 0 : TREE_YOUTH_NS;
	bool may_pass = err->code == -EAGAIN || err->code == -ESTALE ||
			err->exit == EXIT_NO_PROCESS || (!member->is_old && is_starved(member));

	return now_ns() < member->begun_ns + (may_pass ? PASSING_NS : youth_ns);
}

/* A process that fails slowly must not delay the others. */
static uint64_t next_try_ns(struct member *member, uint64_t took_ns)
{
	unsigned tries = member->tries++;

	if (took_ns < SLOW_NS)
		return now_ns() + (RETRY_FIRST_NS << MIN(tries, RETRY_DOUBLINGS));
	return now_ns() + (took_ns << MIN(tries, SLOW_DOUBLINGS));
}

/* Each try costs some milliseconds of a processor, which a server that makes a process for each
 * connection lacks.  So the delay follows how long processes of this family live: a process that
 * ends during its first try doubles it, one that was attached halves it. */
static void adapt_delay(struct tree *tree, bool was_attached)
{
	uint64_t delay_ns = tree->newborn_delay_ns;

	if (was_attached)
		tree->newborn_delay_ns = delay_ns > DELAY_MIN_NS ? delay_ns / 2 : 0;
	else
		tree->newborn_delay_ns = MIN(MAX(2 * delay_ns, DELAY_MIN_NS), DELAY_MAX_NS);
}

static void attach_one(struct tree *tree, struct member *member)
{
	uint64_t begin_ns = now_ns();
	struct err err = { 0 };
	bool has_ended;
	int r;

	pthread_mutex_unlock(&tree->lock);
	r = member_attach(tree, member, &err);
	pthread_mutex_lock(&tree->lock);
	has_ended = member->has_ended || !pidfd_lives(member->pidfd);
	if (!member->is_initial && (!r || has_ended))
		adapt_delay(tree, !r);
	if (!r)
		note_attached(tree, member);
	if (has_ended)
		member_end(tree, member);
	else if (r && member->has_executed)
		member_begin_program(tree, member);
	else if (r && is_worth_a_try(member, &err))
		member_retry(tree, member, next_try_ns(member, now_ns() - begin_ns));
	else if (r)
		member_skip(tree, member, &err);
	pthread_cond_broadcast(&tree->changed);
}

static void detach_one(struct tree *tree, struct member *member)
{
	struct session_left left = { 0 };
	struct err err = { 0 };
	int r;

	pthread_mutex_unlock(&tree->lock);
	r = session_detach(member->session, tree->unloads, &left, &err);
	pthread_mutex_lock(&tree->lock);
	if (r && !pidfd_lives(member->pidfd)) {
		member->state = MEMBER_ATTACHED;
		member_end(tree, member);
		return;
	}
	if (r && !tree->leave_error.code)
		tree->leave_error = err;
	tree_notify(tree, (struct tree_event){ .kind = TREE_LEFT,
					       .pid = member->pid,
					       .session = member->session,
					       .reason = tree->reason,
					       .left = &left,
					       .err = r ? &err : NULL });
	member_remove(tree, member);
}

/* The member that is due and has waited longest; NULL: none. */
static struct member *pick_member(const struct tree *tree)
{
	enum member_state wanted = tree->is_leaving ? MEMBER_ATTACHED : MEMBER_WAITING;
	struct member *best = NULL;

	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = tree->members[i];

		if (member->state == wanted && (!best || member->due_ns < best->due_ns))
			best = member;
	}
	return best;
}

void *tree_work(void *argument)
{
	struct tree *tree = argument;
	struct member *member;

	pthread_mutex_lock(&tree->lock);
	while ((member = pick_member(tree)) || !tree->is_leaving) {
		if (!member) {
			pthread_cond_wait(&tree->changed, &tree->lock);
		} else if (!tree->is_leaving && member->due_ns > now_ns()) {
			struct timespec due = { (time_t)(member->due_ns / 1000000000u),
						(long)(member->due_ns % 1000000000u) };

			pthread_cond_timedwait(&tree->changed, &tree->lock, &due);
		} else {
			member->state = MEMBER_BUSY;
			(tree->is_leaving ? detach_one : attach_one)(tree, member);
		}
	}
	pthread_mutex_unlock(&tree->lock);
	return NULL;
}

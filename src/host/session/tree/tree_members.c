/*
 * The members of a family: adds and removes them.  All functions run with the lock held.
 */
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/session/tree/tree_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPARTED_NS 5000000000ull

void tree_notify(struct tree *tree, struct tree_event event)
{
	event.counts = &tree->counts;
	event.source = tree->forks.source;
	if (tree->given.listen)
		tree->given.listen(&event, tree->given.context);
}

struct member *member_find(const struct tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->members[i]->pid == pid)
			return tree->members[i];
	return NULL;
}

static bool has_departed(const struct tree *tree, pid_t pid)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < TREE_DEPARTED; i++)
		if (tree->departed[i].pid == pid && now < tree->departed[i].until_ns)
			return true;
	return false;
}

static bool is_member(const struct tree *tree, pid_t pid)
{
	return pid && (member_find(tree, pid) || has_departed(tree, pid));
}

/*
 * A process descends from the one that began its session.  That finds orphans, which init has
 * adopted.  A process whose parent is in the same session is no orphan: it belongs to the family if
 * the parent does.
 */
static bool is_orphan(const struct tree *tree, const struct lineage *lineage)
{
	struct lineage parent;

	return lineage->session != lineage->pid && is_member(tree, lineage->session) &&
	       !lineage_read(lineage->parent, &parent) && parent.session != lineage->session;
}

bool tree_claims(const struct tree *tree, const struct lineage *lineage)
{
	return is_member(tree, lineage->parent) || is_orphan(tree, lineage);
}

static void note_departure(struct tree *tree, pid_t pid)
{
	size_t at = tree->departed_at++ % TREE_DEPARTED;

	tree->departed[at].pid = pid;
	tree->departed[at].until_ns = now_ns() + DEPARTED_NS;
}

static void note_missed(struct tree *tree, pid_t pid)
{
	tree->counts.missed++;
	tree_notify(tree, (struct tree_event){ .kind = TREE_MISSED, .pid = pid });
}

static void note_skip(struct tree *tree, pid_t pid, const struct err *err)
{
	tree->counts.skipped++;
	if (!tree->first_skip.code)
		tree->first_skip = *err;
	tree_notify(tree, (struct tree_event){ .kind = TREE_SKIPPED, .pid = pid, .err = err });
}

/* A pidfd; -errno: -ESRCH when the process has ended. */
static int open_process(const struct lineage *lineage, uint64_t *ret_start_tick)
{
	int pidfd = (int)syscall(SYS_pidfd_open, lineage->pid, 0);
	struct lineage now;

	if (pidfd < 0)
		return -errno;
	if (lineage_read(lineage->pid, &now) || now.has_ended ||
	    (lineage->start_tick && now.start_tick != lineage->start_tick)) {
		close(pidfd);
		return -ESRCH;
	}
	*ret_start_tick = now.start_tick;
	return pidfd;
}

/* Owns the descriptor on success. */
static int member_insert(struct tree *tree, pid_t pid, uint64_t start_tick, int pidfd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = (uint64_t)pid };
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct member *member = calloc(1, sizeof(*member));
	int r = -ENOMEM;

	if (member)
		r = make_room(&tree->members, tree->count, &tree->room, sizeof(struct member *));
	if (!r && epoll_ctl(tree->epoll, EPOLL_CTL_ADD, pidfd, &event))
		r = -errno;
	if (r) {
		free(member);
		return r;
	}
	member->pid = pid;
	member->start_tick = start_tick;
	member->pidfd = pidfd;
	member->is_initial = !tree->is_settled;
	tree->members[tree->count++] = member;
	member_begin_anew(tree, member);
	member->is_old = boot_now_ns() > start_tick * tick_ns + TREE_YOUTH_NS;
	return 0;
}

void member_add(struct tree *tree, const struct lineage *lineage)
{
	uint64_t start_tick = 0;
	struct err err;
	int pidfd, r;

	if (member_find(tree, lineage->pid) || lineage->pid == getpid())
		return;
	pidfd = open_process(lineage, &start_tick);
	r = pidfd < 0 ? pidfd : member_insert(tree, lineage->pid, start_tick, pidfd);
	if (r == -ESRCH) {
		note_missed(tree, lineage->pid);
		note_departure(tree, lineage->pid);
	} else if (r && r != -EINVAL && r != -ENOENT) { /* these codes mean: a thread */
		err_set(&err, r, "cannot follow %d: %s", lineage->pid, strerror(-r));
		if (r == -EMFILE || r == -ENFILE)
			err_fix(&err, "raise the limit of open files: ulimit -n");
		note_skip(tree, lineage->pid, &err);
	}
	if (r && pidfd >= 0)
		close(pidfd);
}

void member_retry(struct tree *tree, struct member *member, uint64_t due_ns)
{
	if (member->state == MEMBER_SKIPPED && !member->was_attached)
		tree->counts.skipped--;
	member->state = MEMBER_WAITING;
	member->due_ns = due_ns;
	pthread_cond_broadcast(&tree->changed);
}

void member_begin_anew(struct tree *tree, struct member *member)
{
	member->tries = 0;
	member->is_old = member->has_executed = false;
	member->begun_ns = now_ns();
	member_retry(tree, member,
		     member->is_initial ? 0 : member->begun_ns + tree->newborn_delay_ns);
}

void member_begin_program(struct tree *tree, struct member *member)
{
	member->lost_by = "executed another program";
	member_begin_anew(tree, member);
}

void member_skip(struct tree *tree, struct member *member, const struct err *err)
{
	struct err again;

	if (member->pid == tree->root && !tree->root_error.code)
		tree->root_error = *err;
	if (!member->was_attached) {
		member->state = MEMBER_SKIPPED;
		note_skip(tree, member->pid, err);
		return;
	}
	again = *err;
	err_while(&again, "process %d %s and is not attached again", member->pid, member->lost_by);
	member_report_lost(tree, member, &again);
}

void member_report_lost(struct tree *tree, struct member *member, const struct err *err)
{
	member->state = MEMBER_SKIPPED;
	tree_notify(tree,
		    (struct tree_event){ .kind = TREE_SKIPPED, .pid = member->pid, .err = err });
}

void member_drop_session(struct member *member)
{
	if (member->session)
		session_close(member->session);
	free(member->session);
	member->session = NULL;
	member->agentless_ns = 0;
}

void member_remove(struct tree *tree, struct member *member)
{
	size_t at = 0;

	while (tree->members[at] != member)
		at++;
	tree->members[at] = tree->members[--tree->count];
	note_departure(tree, member->pid);
	member_drop_session(member);
	close(member->pidfd);
	free(member);
	if (!tree->count)
		eventfd_write(tree->end, 1);
	pthread_cond_broadcast(&tree->changed);
}

void member_end(struct tree *tree, struct member *member)
{
	if (member->state == MEMBER_ATTACHED)
		tree_notify_left(tree, member, "exit");
	if (member->was_attached)
		tree->counts.ended++;
	else if (member->state != MEMBER_SKIPPED)
		note_missed(tree, member->pid);
	member_remove(tree, member);
}

void tree_notify_left(struct tree *tree, const struct member *member, const char *reason)
{
	static const struct session_left nothing;

	tree_notify(tree, (struct tree_event){ .kind = TREE_LEFT,
					       .pid = member->pid,
					       .session = member->session,
					       .reason = reason,
					       .left = &nothing });
}

/*
 * Private to the tree_*.c files: the family and its lock.
 */
#pragma once

#include "host/session/register_libraries.h"
#include "host/session/tree/tree.h"

#include <pthread.h>

#define TREE_WORKERS  2
#define TREE_DEPARTED 256
#define TREE_YOUTH_NS 1000000000ull /* a process may so long be becoming something else */

enum member_state {
	MEMBER_WAITING,  /* to be attached at due_ns */
	MEMBER_BUSY,     /* a worker has it: attaching or leaving */
	MEMBER_ATTACHED, /* session is ours */
	MEMBER_SKIPPED,  /* cannot be attached as long as it runs this program */
};

struct member {
	pid_t pid;
	uint64_t start_tick;
	int pidfd;
	enum member_state state;
	bool is_initial;              /* was there when the visit began */
	bool was_attached;            /* counted once, however often it executes */
	bool has_ended, has_executed; /* noticed while a worker has it */
	bool is_old;                  /* has run this program for a while: a refusal is final */
	uint64_t begun_ns;            /* when we first heard of it, or of its new program */
	uint64_t due_ns;
	uint64_t agentless_ns; /* since when its agent is gone and its program is the same, or 0 */
	unsigned tries;
	unsigned changes;    /* how often its agent left because it changed its rights */
	const char *lost_by; /* what the process did when it was detached last; NULL: nothing */
	struct identity identity; /* of the program at the last try */
	struct session *session;
	struct session_options options; /* of the session */
	struct registers_watch watch;   /* for runtimes that come later */
};

struct tree {
	pthread_mutex_t lock;   /* guards all below, but for what never changes after the start */
	pthread_cond_t changed; /* a member is due, a worker is done, everybody shall go */
	struct session_options options;
	struct tree_options given; /* but for its session, which is in options */
	struct forks forks;        /* the follower's alone once it runs */
	int epoll, stop, end;
	pid_t root;
	pthread_t follower, workers[TREE_WORKERS];
	bool has_follower;
	size_t worker_count;

	struct member **members;
	size_t count, room;
	struct {
		pid_t pid;
		uint64_t until_ns; /* numbers come again */
	} departed[TREE_DEPARTED]; /* members that ended: a child may be heard of later; a ring */
	size_t departed_at;
	uint64_t
		newborn_delay_ns; /* how long a new process or program lives before its first try */
	struct tree_counts counts;
	struct attach_report root_report;
	struct err root_error, first_skip, leave_error;
	char first_failure[CONTROL_TEXT_MAX]; /* of a tool */
	bool is_settled;                      /* the beginning is over */
	bool is_leaving, unloads; /* the follower has ended, the workers leave everybody */
	const char *reason;
};

/* Everything below is called with the lock held. */

struct member *member_find(const struct tree *tree, pid_t pid);
/* Does it descend from a member? */
bool tree_claims(const struct tree *tree, const struct lineage *lineage);
/* Reports it when it has ended already or cannot be watched; a thread is not taken. */
void member_add(struct tree *tree, const struct lineage *lineage);
/* It has ended: says so and forgets it.  Not while a worker has it. */
void member_end(struct tree *tree, struct member *member);
void member_remove(struct tree *tree, struct member *member);
bool member_lives(const struct member *member);
void member_retry(struct tree *tree, struct member *member, uint64_t due_ns);
/* The next try is the first one again: everything about it may have changed. */
void member_begin_anew(struct tree *tree, struct member *member);
/* The same after an exec. */
void member_begin_program(struct tree *tree, struct member *member);
void member_skip(struct tree *tree, struct member *member, const struct err *err);
/* Reports why a process that was attached before is not attached any more.  It is not counted as
 * skipped. */
void member_give_up(struct tree *tree, struct member *member, const struct err *err);
void member_drop_session(struct member *member);

void tree_tell(struct tree *tree, struct tree_event event);
/* It was attached and has ended, or runs another program. */
void tree_tell_left(struct tree *tree, const struct member *member, const char *reason);

/* The threads, which take the lock themselves; so does the look around that the follower repeats.
 */
void *tree_work(void *tree);
void *tree_follow(void *tree);
void tree_look(struct tree *tree);

/*
 * Private to the tree_*.c files: the family and its lock.
 */
#pragma once

#include "host/session/register_libraries.h"
#include "host/session/tree/tree.h"

#include <pthread.h>

#define TREE_WORKERS  2
#define TREE_DEPARTED 256
#define TREE_YOUTH_NS 1000000000ull /* so long a process may still exec */

enum member_state {
	MEMBER_WAITING,  /* to be attached at due_ns */
	MEMBER_BUSY,     /* a worker attaches or detaches it */
	MEMBER_ATTACHED, /* its session is open */
	MEMBER_SKIPPED,  /* cannot be attached while it runs this program */
};

struct member {
	pid_t pid;
	uint64_t start_tick;
	int pidfd;
	enum member_state state;
	bool is_initial;              /* present when the family was opened */
	bool was_attached;            /* counted once for all its programs */
	bool has_ended, has_executed; /* noticed while a worker has it */
	bool is_old;                  /* has run this program for a while: a refusal is final */
	uint64_t begun_ns;            /* when it was first seen, or its new program */
	uint64_t due_ns;
	uint64_t agentless_ns; /* since when it lacks an agent in the same program, or 0 */
	unsigned tries;
	unsigned changes;         /* how often its agent detached for a change of rights */
	const char *lost_by;      /* why it was detached last; NULL: it was not */
	struct identity identity; /* of the program at the last try */
	struct session *session;
	struct session_options options; /* those of the session */
	struct registers_watch watch;   /* for runtimes that are loaded later */
};

struct tree {
	pthread_mutex_t lock;   /* guards all below that changes after the start */
	pthread_cond_t changed; /* a member is due, a worker is done, all shall detach */
	struct session_options options;
	struct tree_options given; /* its session is not used: see options */
	struct forks forks;        /* used by the follower alone once it runs */
	int epoll, stop, end;
	pid_t root;
	pthread_t follower, workers[TREE_WORKERS];
	bool has_follower;
	size_t worker_count;

	struct member **members;
	size_t count, room;
	struct {
		pid_t pid;
		uint64_t until_ns; /* numbers are reused */
	} departed[TREE_DEPARTED]; /* ended members, for forks reported late; a ring */
	size_t departed_at;
	uint64_t newborn_delay_ns; /* delay of the first try for a new process or program */
	struct tree_counts counts;
	struct attach_report root_report;
	struct err root_error, first_skip, leave_error;
	char first_failure[CONTROL_TEXT_MAX]; /* first tool failure */
	bool is_settled;                      /* tree_open() has waited for the initial members */
	bool is_leaving, unloads;             /* the follower has ended, the workers detach all */
	const char *reason;
};

/* Functions below are called with the lock held. */

struct member *member_find(const struct tree *tree, pid_t pid);
/* Does it descend from a member? */
bool tree_claims(const struct tree *tree, const struct lineage *lineage);
/* Reports a process that has ended already or cannot be watched; ignores a thread. */
void member_add(struct tree *tree, const struct lineage *lineage);
/* Reports that it has ended, and removes it.  Not while a worker has it. */
void member_end(struct tree *tree, struct member *member);
void member_remove(struct tree *tree, struct member *member);
void member_retry(struct tree *tree, struct member *member, uint64_t due_ns);
/* Makes the next try count as the first: everything about the process may have changed. */
void member_begin_anew(struct tree *tree, struct member *member);
/* The same after an exec. */
void member_begin_program(struct tree *tree, struct member *member);
void member_skip(struct tree *tree, struct member *member, const struct err *err);
/* Reports why a process that was attached before is so no more.  It does not count as skipped. */
void member_report_lost(struct tree *tree, struct member *member, const struct err *err);
void member_drop_session(struct member *member);

void tree_notify(struct tree *tree, struct tree_event event);
/* Reports an attached process that has ended, or runs another program. */
void tree_notify_left(struct tree *tree, const struct member *member, const char *reason);

/* The threads, which take the lock themselves, as the follower's repeated scan does. */
void *tree_work(void *tree);
void *tree_follow(void *tree);
void tree_poll(struct tree *tree);

/*
 * A visit to a process and all its descendants, also those that are born during it.  Three threads
 * of its own do the work: one follows the family, two attach and leave.
 */
#pragma once

#include "host/process/forks/forks.h"
#include "host/session/session.h"

enum tree_event_kind {
	TREE_ATTACHED, /* session is set */
	TREE_SKIPPED,  /* err says why */
	TREE_MISSED,   /* it ended before limpet was in */
	TREE_LEFT,     /* session and reason are set; err too when leaving failed */
	TREE_SETTLED,  /* everybody who was there at the beginning has had his turn */
};

struct tree_counts {
	size_t attached;     /* processes, once each */
	size_t skipped;      /* that live and could not be attached */
	size_t missed;       /* that ended before limpet was in */
	size_t ended;        /* of those attached */
	size_t failed_tools; /* of all processes together */
	size_t least_failed; /* of one process, the one where most went well */
};

struct tree_event {
	enum tree_event_kind kind;
	pid_t pid;
	const struct session *session;
	const char *reason; /* "exit", "exec", "agent", "identity", or as given to tree_leave() */
	const struct session_left *left;
	const struct err *err;
	const struct tree_counts *counts;
	enum forks_source source;
};

/* Called by any thread, one at a time; must not call back. */
typedef void tree_listener(const struct tree_event *event, void *context);

struct tree_options {
	const struct session_options *session; /* copied, with its lists */
	tree_listener *listen;                 /* may be NULL */
	void *context;
	/* Around each try to attach, by several threads at once; both or neither.  prepare may
	 * change the options for this process (its trace); failed undoes that. */
	int (*prepare)(void *context, pid_t pid, struct session_options *options, struct err *err);
	void (*failed)(void *context, pid_t pid);
};

struct tree;

/*
 * Attaches to the family and follows it.  Refuses a wide scope (scope.h) unless the session's
 * all_descendants allows it, or limpet has started the root itself.  Returns when everybody who is
 * there now has had his turn, or after 5 s when at least one is in.  Fails when none could be
 * attached, with the root's reason.
 */
int tree_open(struct tree **ret, pid_t root, const struct tree_options *options,
	      struct err *err) MUST_CHECK;

/* Becomes readable when no process of the family is left. */
int tree_end_fd(const struct tree *tree);

enum forks_source tree_source(const struct tree *tree);

/* What attaching to the root cost; all 0 when the root was skipped. */
struct attach_report tree_root_report(struct tree *tree);

/* Why the first process was skipped and why the first tool failed, a line each; may be empty. */
void tree_complaints(struct tree *tree, char *ret, size_t room);

struct tree_counts tree_count(struct tree *tree);

/* Stops following and leaves everybody.  The first error, when there was one; the others are left
 * all the same. */
int tree_leave(struct tree *tree, bool unload, const char *reason, struct err *err) MUST_CHECK;

/* Leaves everybody first, unless that was done. */
void tree_close(struct tree *tree);

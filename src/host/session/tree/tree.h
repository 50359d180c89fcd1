/*
 * Sessions with a process and all its descendants, also those that start later.  Three threads do
 * the work: one follows the family, two attach and detach.
 */
#pragma once

#include "host/process/forks/forks.h"
#include "host/session/session.h"

enum tree_event_kind {
	TREE_ATTACHED, /* session is set */
	TREE_SKIPPED,  /* err has the reason */
	TREE_MISSED,   /* it ended before limpet was attached */
	TREE_LEFT,     /* session and reason are set; err too when detaching failed */
	TREE_SETTLED,  /* every initial member has been tried */
};

struct tree_counts {
	size_t attached;     /* processes, once each */
	size_t skipped;      /* that live and could not be attached */
	size_t missed;       /* that ended before limpet was attached */
	size_t ended;        /* of those attached */
	size_t failed_tools; /* of all processes together */
	size_t least_failed; /* of one process, that with the fewest */
};

struct tree_event {
	enum tree_event_kind kind;
	pid_t pid;
	const struct session *session;
	const char *reason; /* "exit", "exec", "agent", "identity", or as given to tree_detach() */
	const struct session_left *left;
	const struct err *err;
	const struct tree_counts *counts;
	enum forks_source source;
};

/* Called by any thread, one call at a time; must not call back. */
typedef void tree_listener(const struct tree_event *event, void *context);

struct tree_options {
	const struct session_options *session; /* copied, with its lists */
	tree_listener *listen;                 /* may be NULL */
	void *context;
	/* Called around each attach, by several threads at once; both or neither.  prepare may
	 * change the options for this process (its trace); failed undoes that. */
	int (*prepare)(void *context, pid_t pid, struct session_options *options, struct err *err);
	void (*failed)(void *context, pid_t pid);
};

struct tree;

/*
 * Attaches to the family and follows it.  Refuses a wide scope (scope.h) unless the session's
 * all_descendants allows it, or limpet has started the root itself.  Returns when every present
 * member has been tried, or after 5 s when at least one is attached.  Fails when none could be
 * attached, with the root's reason.
 */
int tree_open(struct tree **ret, pid_t root, const struct tree_options *options,
	      struct err *err) MUST_CHECK;

/* Becomes readable when no process of the family is left. */
int tree_end_fd(const struct tree *tree);

enum forks_source tree_source(const struct tree *tree);

/* The cost of attaching to the root; all 0 when the root was skipped. */
struct attach_report tree_root_report(struct tree *tree);

/* The reason of the first skipped process and of the first failed tool, a line each; may be
 * empty. */
void tree_complaints(struct tree *tree, char *ret, size_t room);

struct tree_counts tree_count(struct tree *tree);

/* Stops following and detaches from all members.  Returns the first error; the other members are
 * detached all the same. */
int tree_detach(struct tree *tree, bool unload, const char *reason, struct err *err) MUST_CHECK;

/* Detaches from all members first, unless that was done. */
void tree_close(struct tree *tree);

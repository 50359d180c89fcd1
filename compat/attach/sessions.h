/*
 * The processes that this program has attached to, by number.  Thread-safe; an entry that is busy
 * belongs to the thread that made it so, and the lock is never held while something is attached.
 */
#pragma once

#include "visit.h"

struct session {
	struct visit visit;
	int pid;
	bool is_busy;
	pid_t owner;
	struct session *next;
};

/* A new busy entry, or NULL: attached already, being changed, or no memory; the outcome says it.
 * An entry whose process has ended gives way. */
struct session *sessions_add(int pid, struct outcome *outcome);

/* An entry that is not busy, made busy; of any process when pid is 0.  NULL when there is none. */
struct session *sessions_take(int pid);

/* Ends being busy. */
void sessions_keep(struct session *session);
void sessions_drop(struct session *session);

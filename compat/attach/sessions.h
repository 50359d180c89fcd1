/*
 * The processes that this program has attached to, by number.  Thread-safe; a busy entry belongs to
 * the thread that made it busy, and the lock is never held during an attach.
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

/* A new busy entry, or NULL: attached already, being changed, or no memory; see the outcome.  An
 * entry whose process has ended is replaced. */
struct session *sessions_add(int pid, struct outcome *outcome);

/* An entry that is not busy, made busy; of any process when pid is 0.  NULL when there is none. */
struct session *sessions_take(int pid);

/* Ends being busy. */
void sessions_keep(struct session *session);
void sessions_drop(struct session *session);

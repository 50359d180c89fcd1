/*
 * All sessions of a limpet ui: bounded, each with a number that is never reused.
 */
#pragma once

#include "host/ui/session/session.h"

#include <pthread.h>

#define SESSIONS_MAX 8u

struct sessions {
	pthread_mutex_t lock; /* guards the list, and what the clock thread reads */
	struct ui_session *items[SESSIONS_MAX];
	unsigned count;
	uint32_t last_id;
	bool is_ending; /* none may be added any more */
};

void sessions_init(struct sessions *ret);

/* NULL, and why. */
struct ui_session *sessions_find(struct sessions *sessions, uint32_t id, struct err *err);

/* -EMFILE where there are enough of them already; nothing is done then. */
int sessions_check_room(struct sessions *sessions, struct err *err) MUST_CHECK;

/* Owns the session, also when it fails. */
int sessions_add(struct sessions *sessions, struct ui_session *session, struct err *err) MUST_CHECK;
void sessions_remove(struct sessions *sessions, struct ui_session *session);

/* Polls all of them. */
void sessions_tick(struct sessions *sessions);

/* Stops every session that traces or writes a file, except the one of that number, when no browser
 * has sent requests for that time.  Sessions that only sample go on: they have nothing in the
 * target, and their memory is bounded. */
void sessions_lapse(struct sessions *sessions, uint32_t but, uint64_t lease_ns);

/* Detaches the session that holds this process, itself or as a descendant; where none is known to,
 * all that follow descendants, since it may have lost its parent. */
void sessions_detach(struct sessions *sessions, pid_t pid);

/* Lets go of every process; from another thread than the one that carries out commands.  Nothing is
 * freed: that thread may be in the middle of an answer. */
void sessions_detach_all(struct sessions *sessions);

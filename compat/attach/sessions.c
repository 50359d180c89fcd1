/*
 * A list under a lock: few processes are attached to at a time.
 */
#include "sessions.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *sessions;

static struct session *session_find(int pid)
{
	struct session *session = sessions;

	while (session && session->pid != pid)
		session = session->next;
	return session;
}

static struct session *find_idle(int pid)
{
	struct session *session = sessions;

	while (session && (session->is_busy || (pid && session->pid != pid)))
		session = session->next;
	return session;
}

/* An old entry of a process that has ended is made busy for its end. */
static struct session *add_locked(int pid, struct session **ret_over, struct outcome *outcome)
{
	struct session *old = session_find(pid), *session;

	if (old && (old->is_busy || !visit_is_over(&old->visit))) {
		outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
			    "attached to %d already; detaching from it comes first", pid);
		return NULL;
	}
	session = calloc(1, sizeof(*session));
	if (!session) {
		outcome_set(outcome, ROCATTACH_STATUS_ERROR, "out of memory");
		return NULL;
	}
	if (old) {
		old->is_busy = true;
		old->pid = -1;
	}
	*ret_over = old;
	*session = (struct session){ .pid = pid, .is_busy = true, .next = sessions };
	sessions = session;
	return session;
}

struct session *sessions_add(int pid, struct outcome *outcome)
{
	struct session *over = NULL, *session;
	struct outcome ignored;

	pthread_mutex_lock(&lock);
	session = add_locked(pid, &over, outcome);
	pthread_mutex_unlock(&lock);
	if (over) {
		visit_end(&over->visit, &ignored);
		sessions_drop(over);
	}
	return session;
}

struct session *sessions_take(int pid)
{
	struct session *session;

	pthread_mutex_lock(&lock);
	session = find_idle(pid);
	if (session)
		session->is_busy = true;
	pthread_mutex_unlock(&lock);
	return session;
}

void sessions_keep(struct session *session)
{
	pthread_mutex_lock(&lock);
	session->owner = getpid();
	session->is_busy = false;
	pthread_mutex_unlock(&lock);
}

void sessions_drop(struct session *session)
{
	struct session **link = &sessions;

	pthread_mutex_lock(&lock);
	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	pthread_mutex_unlock(&lock);
	free(session);
}

/* dlclose or exit while attached: later there would be no code left to detach.  A child that the
 * caller forked is not the process that attached. */
__attribute__((destructor)) static void leave_all(void)
{
	struct session *session;
	struct outcome ignored;

	while ((session = sessions_take(0))) {
		if (session->owner == getpid())
			visit_end(&session->visit, &ignored);
		sessions_drop(session);
	}
}

/*
 * librocprofiler-sdk-rocattach.so.1: many processes at a time.  Runs in the caller: no ptrace, no
 * children that it could see.
 */
#include <rocprofiler-sdk-rocattach/rocattach.h>

#include "visit.h"

#include "shared/base/macros.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Of the interface, not of limpet. */
static const rocattach_version_triplet_t interface_version = { 1, 0, 0 };

#define STATUS(name, text)          \
	[ROCATTACH_##name] = {      \
		"ROCATTACH_" #name, \
		text,               \
	}

static const struct {
	const char *name, *text;
} statuses[] = {
	STATUS(STATUS_SUCCESS, "Success"),
	STATUS(STATUS_ERROR, "General error"),
	STATUS(STATUS_ERROR_INVALID_ARGUMENT, "Invalid function argument"),
	STATUS(STATUS_ERROR_NOT_SUPPORTED, "Attachment not supported on this platform"),
	STATUS(STATUS_ERROR_PTRACE_ERROR, "General ptrace error"),
	STATUS(STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED,
	       "ptrace returned EPERM, operation not permitted"),
	STATUS(STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND, "ptrace returned ESRCH, no such process"),
};

/* A process that this program has attached to.  A busy entry belongs to the thread that made it
 * busy, and the lock is never held during an attach. */
struct session {
	struct visit visit;
	int pid;
	bool is_busy;
	pid_t owner; /* a child that the caller forked is not the process that attached */
	struct session *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *sessions;

/* An old entry of a process that has ended is made busy for its end. */
static struct session *add_locked(int pid, struct session **ret_over, struct outcome *outcome)
{
	struct session *old = sessions, *session;

	while (old && old->pid != pid)
		old = old->next;
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

static void session_drop(struct session *session)
{
	struct session **link = &sessions;

	pthread_mutex_lock(&lock);
	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	pthread_mutex_unlock(&lock);
	free(session);
}

/* A new busy entry, or NULL: attached already, being changed, or no memory; see the outcome.  An
 * entry whose process has ended is replaced. */
static struct session *session_add(int pid, struct outcome *outcome)
{
	struct session *over = NULL, *session;
	struct outcome ignored;

	pthread_mutex_lock(&lock);
	session = add_locked(pid, &over, outcome);
	pthread_mutex_unlock(&lock);
	if (over) {
		visit_end(&over->visit, &ignored);
		session_drop(over);
	}
	return session;
}

/* An entry that is not busy, made busy; of any process when pid is 0.  NULL when there is none. */
static struct session *session_acquire(int pid)
{
	struct session *session;

	pthread_mutex_lock(&lock);
	session = sessions;
	while (session && (session->is_busy || (pid && session->pid != pid)))
		session = session->next;
	if (session)
		session->is_busy = true;
	pthread_mutex_unlock(&lock);
	return session;
}

static void session_keep(struct session *session)
{
	pthread_mutex_lock(&lock);
	session->owner = getpid();
	session->is_busy = false;
	pthread_mutex_unlock(&lock);
}

static rocattach_status_t session_begin(int pid, bool with_children)
{
	struct outcome outcome;
	struct session *session = session_add(pid, &outcome);

	if (!session)
		return outcome_tell(&outcome);
	if (visit_begin(&session->visit, pid, with_children, &outcome))
		session_drop(session);
	else
		session_keep(session);
	return outcome_tell(&outcome);
}

static rocattach_status_t end_session(struct session *session)
{
	struct outcome outcome;

	visit_end(&session->visit, &outcome);
	session_drop(session);
	return outcome_tell(&outcome);
}

/* Returns the last failure; each was printed. */
static rocattach_status_t end_all(void)
{
	rocattach_status_t worst = ROCATTACH_STATUS_SUCCESS;
	struct session *session;

	while ((session = session_acquire(0))) {
		rocattach_status_t status = end_session(session);

		if (status)
			worst = status;
	}
	return worst;
}

static rocattach_status_t session_end(int pid)
{
	struct outcome outcome;
	struct session *session;

	if (pid == 0)
		return end_all();
	session = session_acquire(pid);
	if (session)
		return end_session(session);
	outcome_set(&outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, "not attached to %d", pid);
	return outcome_tell(&outcome);
}

EXPORT rocattach_status_t rocattach_attach(int pid)
{
	return session_begin(pid, false);
}

EXPORT rocattach_status_t rocattach_detach(int pid)
{
	return session_end(pid);
}

EXPORT rocattach_status_t rocattach_attach_tree(int pid)
{
	return session_begin(pid, true);
}

EXPORT rocattach_status_t rocattach_detach_tree(int pid)
{
	return session_end(pid);
}

EXPORT rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
	if (major)
		*major = interface_version.major;
	if (minor)
		*minor = interface_version.minor;
	if (patch)
		*patch = interface_version.patch;
	return ROCATTACH_STATUS_SUCCESS;
}

EXPORT rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *version)
{
	if (!version)
		return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
	*version = interface_version;
	return ROCATTACH_STATUS_SUCCESS;
}

EXPORT const char *rocattach_get_status_name(rocattach_status_t status)
{
	return (unsigned)status < ARRAY_SIZE(statuses) ? statuses[status].name : NULL;
}

EXPORT const char *rocattach_get_status_string(rocattach_status_t status)
{
	return (unsigned)status < ARRAY_SIZE(statuses) ? statuses[status].text : NULL;
}

/* dlclose or exit while attached: later there would be no code left to detach. */
__attribute__((destructor)) static void end_own(void)
{
	struct session *session;
	struct outcome ignored;

	while ((session = session_acquire(0))) {
		if (session->owner == getpid())
			visit_end(&session->visit, &ignored);
		session_drop(session);
	}
}

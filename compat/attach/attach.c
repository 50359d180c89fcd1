/*
 * librocprofv3-attach.so: attach(pid) and detach(), one process at a time.  Runs in the caller:
 * no ptrace, no children that it could see, threads of liblimpet's only while descendants are
 * followed.  The lock is never held while attaching.
 */
#include <limpet/attach.h>

#include "visit.h"

#include "shared/base/macros.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
	pthread_mutex_t lock;
	enum { FREE, CHANGING, ATTACHED } state;
	struct visit visit;
	struct outcome last;
	pid_t owner; /* a child that the caller forks is not the one that attached */
} listener = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* AMD's call attaches to one process only; the variable includes its descendants. */
static bool wants_children(void)
{
	static const char *const yes[] = { "1", "true", "yes", "on" };
	const char *value = secure_getenv("ROCPROF_ATTACH_CHILDREN");

	for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
		if (!strcasecmp(value, yes[i]))
			return true;
	return false;
}

/* Locks the library for a change; errors recorded from here on are this call's. */
static rocattach_status_t begin_attach(struct visit *ret_over, struct outcome *outcome)
{
	bool is_stale = listener.state == ATTACHED && visit_is_over(&listener.visit);

	outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
	if (listener.state == CHANGING)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "another thread is attaching or detaching");
	if (listener.state == ATTACHED && !is_stale)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "attached to %d already; detach() comes first",
				   listener.visit.pid);
	if (is_stale)
		*ret_over = listener.visit;
	listener.state = CHANGING;
	return ROCATTACH_STATUS_SUCCESS;
}

static rocattach_status_t begin_detach(struct visit *ret, struct outcome *outcome)
{
	if (listener.state != ATTACHED)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, "%s",
				   listener.state == FREE
					   ? "not attached to a process"
					   : "another thread is attaching or detaching");
	*ret = listener.visit;
	listener.state = CHANGING;
	return ROCATTACH_STATUS_SUCCESS;
}

static void outcome_settle(const struct visit *visit, const struct outcome *outcome)
{
	pthread_mutex_lock(&listener.lock);
	listener.state = visit ? ATTACHED : FREE;
	if (visit)
		listener.visit = *visit;
	listener.owner = getpid();
	listener.last = *outcome;
	pthread_mutex_unlock(&listener.lock);
}

static int outcome_refuse(const struct outcome *outcome)
{
	listener.last = *outcome;
	pthread_mutex_unlock(&listener.lock);
	return (int)outcome_tell(outcome);
}

EXPORT int attach(uint32_t pid)
{
	struct visit visit, over = { .pidfd = -1 };
	struct outcome outcome;

	pthread_mutex_lock(&listener.lock);
	if (begin_attach(&over, &outcome))
		return outcome_refuse(&outcome);
	pthread_mutex_unlock(&listener.lock);
	if (visit_is_open(&over))
		visit_end(&over, &outcome);
	visit_begin(&visit, pid <= INT_MAX ? (int)pid : -1, wants_children(), &outcome);
	outcome_settle(outcome.status ? NULL : &visit, &outcome);
	return (int)outcome_tell(&outcome);
}

EXPORT int detach(void)
{
	struct visit visit;
	struct outcome outcome;

	pthread_mutex_lock(&listener.lock);
	if (begin_detach(&visit, &outcome))
		return outcome_refuse(&outcome);
	pthread_mutex_unlock(&listener.lock);
	visit_end(&visit, &outcome);
	outcome_settle(NULL, &outcome);
	return (int)outcome_tell(&outcome);
}

EXPORT int limpet_attach_status(char *message, size_t room)
{
	rocattach_status_t status;

	pthread_mutex_lock(&listener.lock);
	status = listener.last.status;
	if (message && room)
		snprintf(message, room, "%s", listener.last.message);
	pthread_mutex_unlock(&listener.lock);
	return (int)status;
}

/* dlclose or exit while attached: later there would be no code left to detach. */
__attribute__((destructor)) static void close_listener(void)
{
	struct outcome ignored;

	if (listener.state == ATTACHED && listener.owner == getpid())
		visit_end(&listener.visit, &ignored);
}

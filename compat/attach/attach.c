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
} door = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* AMD's call knows no descendants; who wants them has to say so. */
static bool wants_children(void)
{
	static const char *const yes[] = { "1", "true", "yes", "on" };
	const char *value = secure_getenv("ROCPROF_ATTACH_CHILDREN");

	for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
		if (!strcasecmp(value, yes[i]))
			return true;
	return false;
}

/* Takes the door for a change; what happened before is then ours alone. */
static rocattach_status_t begin_attach(struct visit *ret_over, struct outcome *outcome)
{
	bool is_stale = door.state == ATTACHED && visit_is_over(&door.visit);

	outcome_set(outcome, ROCATTACH_STATUS_SUCCESS, "%s", "");
	if (door.state == CHANGING)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "another thread is attaching or detaching");
	if (door.state == ATTACHED && !is_stale)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
				   "attached to %d already; detach() comes first", door.visit.pid);
	if (is_stale)
		*ret_over = door.visit;
	door.state = CHANGING;
	return ROCATTACH_STATUS_SUCCESS;
}

static rocattach_status_t begin_detach(struct visit *ret, struct outcome *outcome)
{
	if (door.state != ATTACHED)
		return outcome_set(outcome, ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, "%s",
				   door.state == FREE ? "not attached to a process"
						      : "another thread is attaching or detaching");
	*ret = door.visit;
	door.state = CHANGING;
	return ROCATTACH_STATUS_SUCCESS;
}

static void settle(const struct visit *visit, const struct outcome *outcome)
{
	pthread_mutex_lock(&door.lock);
	door.state = visit ? ATTACHED : FREE;
	if (visit)
		door.visit = *visit;
	door.owner = getpid();
	door.last = *outcome;
	pthread_mutex_unlock(&door.lock);
}

static int refuse(const struct outcome *outcome)
{
	door.last = *outcome;
	pthread_mutex_unlock(&door.lock);
	return (int)outcome_tell(outcome);
}

EXPORT int attach(uint32_t pid)
{
	struct visit visit, over = { .pidfd = -1 };
	struct outcome outcome;

	pthread_mutex_lock(&door.lock);
	if (begin_attach(&over, &outcome))
		return refuse(&outcome);
	pthread_mutex_unlock(&door.lock);
	if (visit_is_open(&over))
		visit_end(&over, &outcome);
	visit_begin(&visit, pid <= INT_MAX ? (int)pid : -1, wants_children(), &outcome);
	settle(outcome.status ? NULL : &visit, &outcome);
	return (int)outcome_tell(&outcome);
}

EXPORT int detach(void)
{
	struct visit visit;
	struct outcome outcome;

	pthread_mutex_lock(&door.lock);
	if (begin_detach(&visit, &outcome))
		return refuse(&outcome);
	pthread_mutex_unlock(&door.lock);
	visit_end(&visit, &outcome);
	settle(NULL, &outcome);
	return (int)outcome_tell(&outcome);
}

EXPORT int limpet_attach_status(char *message, size_t room)
{
	rocattach_status_t status;

	pthread_mutex_lock(&door.lock);
	status = door.last.status;
	if (message && room)
		snprintf(message, room, "%s", door.last.message);
	pthread_mutex_unlock(&door.lock);
	return (int)status;
}

/* dlclose or exit while attached: nobody could detach any more. */
__attribute__((destructor)) static void close_door(void)
{
	struct outcome ignored;

	if (door.state == ATTACHED && door.owner == getpid())
		visit_end(&door.visit, &ignored);
}

/*
 * The list of sessions.
 */
#include "host/ui/session/sessions.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/process/forks/descendants.h"

#include <errno.h>

void sessions_init(struct sessions *ret)
{
	*ret = (struct sessions){ 0 };
	pthread_mutex_init(&ret->lock, NULL);
}

struct ui_session *sessions_find(struct sessions *sessions, uint32_t id, struct err *err)
{
	for (unsigned i = 0; i < sessions->count; i++)
		if (sessions->items[i]->id == id)
			return sessions->items[i];
	err_set(err, -ENOENT, "there is no session %u", id);
	return NULL;
}

int sessions_check_room(struct sessions *sessions, struct err *err)
{
	if (sessions->count < SESSIONS_MAX)
		return 0;
	err_set(err, -EMFILE, "there are %u sessions already", SESSIONS_MAX);
	return err_fix(err, "close one of them first");
}

int sessions_add(struct sessions *sessions, struct ui_session *session, struct err *err)
{
	int r = sessions_check_room(sessions, err);

	pthread_mutex_lock(&sessions->lock);
	if (!r && sessions->is_ending)
		r = err_set(err, -ECANCELED, "limpet is ending");
	if (!r) {
		session->id = ++sessions->last_id;
		sessions->items[sessions->count++] = session;
	}
	pthread_mutex_unlock(&sessions->lock);
	if (r)
		ui_session_free(session);
	return r;
}

void sessions_remove(struct sessions *sessions, struct ui_session *session)
{
	pthread_mutex_lock(&sessions->lock);
	for (unsigned i = 0; i < sessions->count; i++)
		if (sessions->items[i] == session) {
			for (sessions->count--; i < sessions->count; i++)
				sessions->items[i] = sessions->items[i + 1];
			break;
		}
	ui_session_free(session);
	pthread_mutex_unlock(&sessions->lock);
}

void sessions_tick(struct sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	for (unsigned i = 0; i < sessions->count; i++)
		ui_session_tick(sessions->items[i]);
	pthread_mutex_unlock(&sessions->lock);
}

void sessions_lapse(struct sessions *sessions, uint32_t but, uint64_t lease_ns)
{
	pthread_mutex_lock(&sessions->lock);
	for (unsigned i = 0; i < sessions->count; i++) {
		struct ui_session *session = sessions->items[i];

		if (session->state != UI_RECORDING || !session->is_attached || session->id == but)
			continue;
		print_into(
			session->stopped_why, sizeof(session->stopped_why),
			"no page had asked for %.4g s, so limpet stopped and detached; the data is kept",
			(double)lease_ns / 1e9);
		ui_session_stop(session, UI_STOPPED);
	}
	pthread_mutex_unlock(&sessions->lock);
}

static bool is_attached(const struct ui_session *session)
{
	return session->state == UI_RECORDING && session->is_attached;
}

static bool session_holds(const struct ui_session *session, pid_t pid)
{
	CLEANUP(free) pid_t *family = NULL;
	struct err ignored = { 0 };
	size_t count = 0;

	if (!is_attached(session))
		return false;
	if (session->wish.pid == pid || !session->wish.children ||
	    descendants_list(session->wish.pid, &family, &count, &ignored))
		return session->wish.pid == pid;
	for (size_t i = 0; i < count; i++)
		if (family[i] == pid)
			return true;
	return false;
}

/* Those that hold it; or all that follow descendants: one whose parent has ended is init's child,
 * but its session still follows it.  How many there were. */
static unsigned detach_those(struct sessions *sessions, pid_t pid, bool is_known)
{
	unsigned count = 0;

	for (unsigned i = 0; i < sessions->count; i++) {
		struct ui_session *session = sessions->items[i];

		if (is_known ? !session_holds(session, pid)
			     : !is_attached(session) || !session->wish.children)
			continue;
		print_into(session->stopped_why, sizeof(session->stopped_why),
			   "limpet detach %d ended it; the data is kept", pid);
		ui_session_stop(session, UI_DETACHED);
		count++;
	}
	return count;
}

void sessions_detach(struct sessions *sessions, pid_t pid)
{
	pthread_mutex_lock(&sessions->lock);
	if (!detach_those(sessions, pid, /* is_known */ true))
		detach_those(sessions, pid, /* is_known */ false);
	pthread_mutex_unlock(&sessions->lock);
}

void sessions_detach_all(struct sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	sessions->is_ending = true;
	for (unsigned i = 0; i < sessions->count; i++)
		ui_session_stop(sessions->items[i], UI_DETACHED);
	pthread_mutex_unlock(&sessions->lock);
}

/*
 * The list of sessions.
 */
#include "host/ui/session/sessions.h"

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

void sessions_let_go(struct sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	sessions->is_ending = true;
	for (unsigned i = 0; i < sessions->count; i++)
		ui_session_stop(sessions->items[i], UI_DETACHED);
	pthread_mutex_unlock(&sessions->lock);
}

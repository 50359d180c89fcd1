/*
 * Answers about sessions: listing, opening, stopping, closing.
 */
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <string.h>

int answer_sessions(struct answer *self)
{
	struct sessions *sessions = &self->ui->sessions;
	uint32_t shared = self->ui->shared;

	json_list(self->json, "sessions");
	pthread_mutex_lock(&sessions->lock);
	for (unsigned i = 0; i < sessions->count; i++)
		if (!shared || sessions->items[i]->id == shared)
			ui_session_write(sessions->items[i], self->json, NULL);
	pthread_mutex_unlock(&sessions->lock);
	json_list_end(self->json);
	return 0;
}

/* With the lock held: the clock thread reads sessions, too. */
static void session_write(struct answer *self, struct ui_session *session)
{
	pthread_mutex_lock(&self->ui->sessions.lock);
	ui_session_write(session, self->json, "session");
	pthread_mutex_unlock(&self->ui->sessions.lock);
}

/* One live session is enough for a process. */
static int pid_check(struct ui *ui, int32_t pid, struct err *err)
{
	for (unsigned i = 0; i < ui->sessions.count; i++) {
		struct ui_session *session = ui->sessions.items[i];

		pthread_mutex_lock(&ui->sessions.lock);
		ui_session_poll(session);
		pthread_mutex_unlock(&ui->sessions.lock);
		if (session->state == UI_RECORDING && session->wish.pid == pid) {
			err_set(err, -EEXIST, "session %u samples %d already", session->id, pid);
			return err_exit(err, EXIT_BUSY);
		}
	}
	return 0;
}

int answer_open(struct answer *self)
{
	const struct ui_wish *wish = &self->command->wish;
	struct ui_session *session = NULL;
	int r = sessions_check_room(&self->ui->sessions, self->err);

	if (!r)
		r = pid_check(self->ui, wish->pid, self->err);
	if (!r)
		r = ui_session_attach(&session, wish, self->ui->options->version, self->err);
	if (!r)
		r = sessions_add(&self->ui->sessions, session, self->err);
	if (!r)
		session_write(self, session);
	return r;
}

static int live_check(const struct answer *self)
{
	if (ui_session_is_live(self->session))
		return 0;
	return err_set(self->err, -EBADF, "session %u is a recording", self->session->id);
}

static int session_end(struct answer *self, enum ui_state state)
{
	struct ui_session *session = self->session;

	if (live_check(self))
		return self->err->code;
	if (session->state == UI_DETACHED ||
	    (session->state != UI_RECORDING && state == UI_STOPPED))
		return err_set(self->err, -EALREADY, "session %u does not sample", session->id);
	pthread_mutex_lock(&self->ui->sessions.lock);
	ui_session_stop(session, state);
	pthread_mutex_unlock(&self->ui->sessions.lock);
	session_write(self, session);
	return 0;
}

int answer_stop(struct answer *self)
{
	return session_end(self, UI_STOPPED);
}

int answer_detach(struct answer *self)
{
	return session_end(self, UI_DETACHED);
}

/* Adopts the requested options; others stay as before. */
static void wish_adopt(struct ui_session *session, const struct ui_wish *wish)
{
	if (wish->trace_count) {
		session->wish.trace_count = wish->trace_count;
		memcpy(session->wish.traces, wish->traces, sizeof(wish->traces));
	}
	session->wish.is_recorded |= wish->is_recorded;
	if (wish->hz) {
		session->wish.hz = wish->hz;
		session->wish.off_cpu = wish->off_cpu;
	} else if (!session->wish.hz && !session->wish.trace_count) {
		session->wish.hz = SAMPLING_HZ;
		session->wish.off_cpu = 1;
	}
}

/* That of `limpet record` is begun and ended there. */
static int recorded_check(const struct answer *self)
{
	uint32_t id = self->session->id;

	if (id != self->ui->recorded)
		return 0;
	err_set(self->err, -EBUSY, "session %u is that of limpet record", id);
	return err_fix(self->err, "Ctrl-C where limpet record runs ends it");
}

int answer_start(struct answer *self)
{
	struct ui_session *session = self->session;
	struct err *err = self->err;
	int r = live_check(self);

	if (!r && session->state != UI_STOPPED)
		r = err_set(err, -EALREADY, "session %u is not stopped", session->id);
	if (!r)
		r = recorded_check(self);
	if (!r)
		r = pid_check(self->ui, session->wish.pid, err);
	if (r)
		return r;
	wish_adopt(session, &self->command->wish);
	pthread_mutex_lock(&self->ui->sessions.lock);
	r = self->ui->sessions.is_ending ? err_set(err, -ECANCELED, "limpet is ending")
					 : ui_session_start(session, err);
	pthread_mutex_unlock(&self->ui->sessions.lock);
	if (!r)
		session_write(self, session);
	return r;
}

int answer_close(struct answer *self)
{
	uint32_t id = self->session->id;

	if (recorded_check(self))
		return self->err->code;
	sessions_remove(&self->ui->sessions, self->session);
	json_number(self->json, "closed", id);
	return 0;
}

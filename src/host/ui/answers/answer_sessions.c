/*
 * Answers about sessions: listing, opening, stopping, closing.
 */
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int answer_sessions(struct ui *ui, const struct ui_command *command, struct reply *reply,
		    struct err *err)
{
	struct json json = { .out = reply->out };

	(void)command;
	(void)err;
	json_object(&json, NULL);
	json_list(&json, "sessions");
	pthread_mutex_lock(&ui->sessions.lock);
	for (unsigned i = 0; i < ui->sessions.count; i++)
		if (!ui->shared || ui->sessions.items[i]->id == ui->shared)
			ui_session_write(ui->sessions.items[i], &json, NULL);
	pthread_mutex_unlock(&ui->sessions.lock);
	json_list_end(&json);
	json_object_end(&json);
	return 0;
}

/* With the lock held: the clock thread reads sessions, too. */
static int reply_session(struct ui *ui, struct reply *reply, struct ui_session *session)
{
	struct json json = { .out = reply->out };

	json_object(&json, NULL);
	pthread_mutex_lock(&ui->sessions.lock);
	ui_session_write(session, &json, "session");
	pthread_mutex_unlock(&ui->sessions.lock);
	json_object_end(&json);
	return 0;
}

/* One live session is enough for a process. */
static int pid_check(struct ui *ui, int32_t pid, struct err *err)
{
	for (unsigned i = 0; i < ui->sessions.count; i++) {
		struct ui_session *session = ui->sessions.items[i];

		pthread_mutex_lock(&ui->sessions.lock);
		ui_session_look(session);
		pthread_mutex_unlock(&ui->sessions.lock);
		if (session->state == UI_RECORDING && session->wish.pid == pid) {
			err_set(err, -EEXIST, "session %u samples %d already", session->id, pid);
			return err_exit(err, EXIT_BUSY);
		}
	}
	return 0;
}

int answer_open(struct ui *ui, const struct ui_command *command, struct reply *reply,
		struct err *err)
{
	struct ui_session *session = NULL;
	int r = sessions_check_room(&ui->sessions, err);

	if (!r)
		r = pid_check(ui, command->wish.pid, err);
	if (!r)
		r = ui_session_attach(&session, &command->wish, ui->options->version, err);
	if (!r)
		r = sessions_add(&ui->sessions, session, err);
	return r ? r : reply_session(ui, reply, session);
}

/* The session of a command that is for live ones. */
static struct ui_session *live_find(struct ui *ui, const struct ui_command *command,
				    struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);

	if (session && !ui_session_is_live(session)) {
		err_set(err, -EBADF, "session %u is a recording", session->id);
		return NULL;
	}
	return session;
}

static int session_end(struct ui *ui, const struct ui_command *command, struct reply *reply,
		       enum ui_state state, struct err *err)
{
	struct ui_session *session = live_find(ui, command, err);

	if (!session)
		return err->code;
	if (session->state == UI_DETACHED ||
	    (session->state != UI_RECORDING && state == UI_STOPPED))
		return err_set(err, -EALREADY, "session %u does not sample", session->id);
	pthread_mutex_lock(&ui->sessions.lock);
	ui_session_stop(session, state);
	pthread_mutex_unlock(&ui->sessions.lock);
	return reply_session(ui, reply, session);
}

int answer_stop(struct ui *ui, const struct ui_command *command, struct reply *reply,
		struct err *err)
{
	return session_end(ui, command, reply, UI_STOPPED, err);
}

int answer_detach(struct ui *ui, const struct ui_command *command, struct reply *reply,
		  struct err *err)
{
	return session_end(ui, command, reply, UI_DETACHED, err);
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
static int recorded_check(const struct ui *ui, const struct ui_session *session, struct err *err)
{
	if (!ui->recorded || session->id != ui->recorded)
		return 0;
	err_set(err, -EBUSY, "session %u is that of limpet record", session->id);
	return err_fix(err, "Ctrl-C where limpet record runs ends it");
}

int answer_start(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	struct ui_session *session = live_find(ui, command, err);
	int r;

	if (!session)
		return err->code;
	if (session->state != UI_STOPPED)
		return err_set(err, -EALREADY, "session %u is not stopped", session->id);
	r = recorded_check(ui, session, err);
	if (!r)
		r = pid_check(ui, session->wish.pid, err);
	if (r)
		return r;
	wish_adopt(session, &command->wish);
	pthread_mutex_lock(&ui->sessions.lock);
	r = ui->sessions.is_ending ? err_set(err, -ECANCELED, "limpet is ending")
				   : ui_session_start(session, err);
	pthread_mutex_unlock(&ui->sessions.lock);
	return r ? r : reply_session(ui, reply, session);
}

int answer_close(struct ui *ui, const struct ui_command *command, struct reply *reply,
		 struct err *err)
{
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct json json = { .out = reply->out };

	if (!session || recorded_check(ui, session, err))
		return err->code;
	sessions_remove(&ui->sessions, session);
	json_object(&json, NULL);
	json_number(&json, "closed", command->range.session);
	json_object_end(&json);
	return 0;
}

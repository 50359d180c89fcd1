/*
 * The page of a recording, without a server: one session, and the request for its page.
 */
#include "host/ui/answers/share.h"

#include "host/core/cleanup.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <unistd.h>

int share_recording(const char *path, uint64_t from_ns, uint64_t to_ns, const char *version,
		    FILE *out, uint64_t *ret_bytes, struct err *err)
{
	const struct ui_options options = { .version = version, .user = geteuid() };
	struct ui ui = { .options = &options };
	CLEANUP(free) struct ui_command *command = malloc(sizeof(*command));
	struct reply reply = { .out = out };
	struct ui_session *session;
	int r;

	if (!command)
		return err_set(err, -ENOMEM, "share: no memory");
	sessions_init(&ui.sessions);
	r = ui_session_load(&session, path, err);
	if (!r)
		r = sessions_add(&ui.sessions, session, err);
	if (r)
		return r;
	ui_command_init(command, UI_SHARE);
	command->range.session = session->id;
	command->range.from_ns = from_ns;
	command->range.to_ns = to_ns == UINT64_MAX ? 0 : to_ns;
	r = answer_make(&ui, command, &reply, err);
	*ret_bytes = (uint64_t)MAX(ftell(out), 0L);
	sessions_remove(&ui.sessions, session);
	return r == -EFBIG ? err_fix(err, "--from and --to take a shorter part") : r;
}

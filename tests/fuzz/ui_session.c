/*
 * Fuzzes recordings that `limpet ui` opens: every picture of the page is asked for, over all of the
 * recording and over a part of it.
 */
#include "fuzz.h"
#include "recording_file.h"

#include <stdio.h>
#include <unistd.h>

#include "host/ui/answers/handlers.h"
#include "host/ui/request/routes.h"

static const enum ui_verb asked[] = { UI_SESSIONS, UI_THREADS,  UI_FLAME,  UI_FUNCTIONS,
				      UI_HEATMAP,  UI_TIMELINE, UI_STACK,  UI_SPANS,
				      UI_FLOWS,    UI_CURVES,   UI_COMPARE };

/* One picture; it may be refused, and then it says why. */
static void picture_ask(struct ui *ui, struct ui_command *command)
{
	struct reply reply;
	struct err err = { 0 };
	int r;

	must(!reply_open(&reply, /* tag */ 1, &err));
	r = answer_make(ui, command, &reply, &err);
	must(!r == !err.code && (!r || err.what[0]));
	reply_close(&reply);
}

static void pictures_ask(struct ui *ui, uint64_t from_ns, uint64_t to_ns, uint8_t ways)
{
	static struct ui_command command;

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		ui_command_init(&command, asked[i]);
		command.range = command.other =
			(struct ui_range){ .session = 1, .from_ns = from_ns, .to_ns = to_ns };
		command.width = 100;
		command.kind = ways % UI_KINDS;
		command.is_inverted = ways >> 3 & 1;
		command.is_by_thread = ways >> 4 & 1;
		command.is_json = ways >> 5 & 1;
		command.time_ns = from_ns;
		picture_ask(ui, &command);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct ui_options *none = NULL;
	struct ui ui = { .options = none };
	struct ui_session *session;
	struct err err = { 0 };
	int fd = recording_file_make(bytes, size);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sessions_init(&ui.sessions);
	if (ui_session_load(&session, path, &err)) {
		must(err.code < 0 && err.what[0]);
	} else {
		must(!sessions_add(&ui.sessions, session, &err));
		pictures_ask(&ui, 0, 0, size ? bytes[size - 1] : 0);
		pictures_ask(&ui, 1000, ui_session_end_ns(session) / 2, (uint8_t)(size * 7));
		sessions_remove(&ui.sessions, session);
	}
	close(fd);
	return 0;
}

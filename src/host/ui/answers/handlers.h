/*
 * The handlers of commands, on one thread, one after the other: so nothing is freed that another
 * answer still reads.  Each is that of a route: request/routes.def.
 */
#pragma once

#include "host/ui/answers/ui_options.h"
#include "host/ui/reply/reply.h"
#include "host/ui/request/routes.h"
#include "host/ui/session/sessions.h"

struct ui {
	struct sessions sessions;
	const struct ui_options *options;
	uint32_t opened;          /* sessions up to this one were given on the command line */
	uint32_t recorded;        /* the session of `limpet record`, which ends with it; 0 */
	uint32_t shared;          /* the session that a shared page is made of, while it is; 0 */
	char ssh[160];            /* the command that forwards its port */
	int broker;               /* where answers go that are made beside others */
	_Atomic unsigned exports; /* being written now */
};

/* Makes the answer to a command.  0, or the error. */
typedef int answer_maker(struct ui *ui, const struct ui_command *command, struct reply *reply,
			 struct err *err);
answer_maker answer_make MUST_CHECK;

struct answer {
	struct ui *ui;
	const struct ui_command *command;
	struct ui_session *session; /* of the command; NULL: the route has none */
	struct reply *reply;
	struct columns columns; /* of a table */
	struct json *json;      /* the open object: the answer, or the facts of a table */
	struct err *err;
	answer_maker *make; /* for a page that holds the answers of other routes */
};

/* 0, or an error, which becomes the answer; where `err` is not set, memory was lacking. */
typedef int ui_handler(struct answer *answer);

#define ROUTE(VERB, handler, ...) ui_handler answer_##handler;
#include "host/ui/request/routes.def"

/*
 * The handlers of commands, on one thread, one after the other: so nothing is freed that another
 * answer still reads.  A handler is a line of the table in handlers.c.
 */
#pragma once

#include "host/ui/reply.h"
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

/* 0, or an error, which becomes the answer. */
typedef int ui_handler(struct ui *ui, const struct ui_command *command, struct reply *reply,
		       struct err *err);

extern ui_handler *const ui_handlers[UI_VERBS];

ui_handler answer_about, answer_processes, answer_doctor, answer_formats;
ui_handler answer_sessions, answer_open, answer_stop, answer_start, answer_detach, answer_close;
ui_handler answer_live, answer_threads, answer_curves, answer_counters;
ui_handler answer_flame, answer_functions, answer_sandwich;
ui_handler answer_share, answer_export, answer_compare, answer_spans, answer_flows, answer_span;
ui_handler answer_heatmap, answer_timeline, answer_stack;

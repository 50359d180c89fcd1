/*
 * The query of a request into a command.  Runs in the HTTP process.
 */
#pragma once

#include "host/ui/command.h"
#include "host/ui/http/request.h"

/* The parameters that a route accepts; others are refused. */
enum parameter_set {
	PARAMETER_FORMAT = 1 << 0,       /* format=json */
	PARAMETER_SESSION = 1 << 1,      /* session */
	PARAMETER_RANGE = 1 << 2,        /* from, to */
	PARAMETER_THREADS = 1 << 3,      /* threads */
	PARAMETER_KIND = 1 << 4,         /* kind */
	PARAMETER_WIDTH = 1 << 5,        /* width */
	PARAMETER_TREE = 1 << 6,         /* invert, by_thread */
	PARAMETER_LIMIT = 1 << 7,        /* limit */
	PARAMETER_FUNCTION = 1 << 8,     /* name, module */
	PARAMETER_CELL = 1 << 9,         /* cell_ms */
	PARAMETER_MOMENT = 1 << 10,      /* thread, time */
	PARAMETER_SINCE = 1 << 11,       /* since */
	PARAMETER_CORRELATION = 1 << 12, /* correlation */
	PARAMETER_OTHER = 1 << 13,       /* session_b, from_b, to_b, threads_b */
	PARAMETER_EXPORT = 1 << 14,      /* format=NAME */
	PARAMETER_SIZE = 1 << 15,        /* size */
	PARAMETER_PID = 1 << 16,         /* pid */
	PARAMETER_HIDDEN = 1 << 17,      /* hidden */
};

/* A command's values before its query is read. */
void ui_command_init(struct ui_command *ret, enum ui_verb verb);

#define PARAMETER_WHY_MAX 128u

/* 0, or -EINVAL and which parameter is wrong, and why. */
int parameters_parse(struct http_text query, unsigned set, struct ui_command *ret,
		     char ret_why[PARAMETER_WHY_MAX]) MUST_CHECK;

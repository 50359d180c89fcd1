/*
 * What a session shall do, and what became of each tool.
 */
#pragma once

#include "host/attach/attachment.h"

struct trace;

struct session_options {
	struct attach_options attach;
	const char *const *tools; /* paths of libraries */
	size_t tool_count;
	const char *const *libraries; /* plain ones: only their constructors run */
	size_t library_count;
	uint32_t timeout_ms;          /* for each call of a tool; 0: SESSION_TIMEOUT_MS */
	const char *const *variables; /* "NAME=VALUE" */
	size_t variable_count;
	bool is_strict;            /* one bad tool fails the session */
	bool all_descendants;      /* of a tree: the user allows any number (scope.h) */
	const struct trace *trace; /* for limpet's own tracer; NULL: not needed */
};

#define SESSION_TIMEOUT_MS 10000

struct session_tool {
	char path[TOOL_PATH_MAX];
	bool is_plain, by_content;
	bool is_ok;      /* every step so far went well */
	bool takes_part; /* its configure function did not return NULL */
	uint32_t index;  /* in the agent's page */
	char error[CONTROL_TEXT_MAX];
};

/* What stays in the target after detach or unload, one reason a line. */
#define SESSION_LEFT_MAX 16

struct session_left {
	size_t count;
	char items[SESSION_LEFT_MAX][256];
};

/* Adds a line; a full list stays as it is. */
void session_left_add(struct session_left *left, const char *format, ...) PRINTF_LIKE(2, 3);

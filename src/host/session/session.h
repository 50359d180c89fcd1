/*
 * One session with a target: attach, load tools, publish variables, stay, detach.  The command line
 * and the C API both use it.
 */
#pragma once

#include "host/attach/attach.h"

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

struct session {
	struct attachment attachment;
	struct session_tool tools[AGENT_TOOLS_MAX];
	size_t tool_count, failed_tools;
	uint32_t timeout_ms;
	bool follows_counters; /* fetches the definitions that tools bring */
	char warning[256];     /* a problem that is no error; empty: none */
	char unnoticed[256];   /* why changes of rights are seen late (notice.h); empty: not so */
};

/* On failure the target is unchanged.  A tool that fails is noted in its entry; with is_strict the
 * session fails.  The struct must not move. */
int session_open(struct session *ret, pid_t pid, const struct session_options *options,
		 struct err *err) MUST_CHECK;

/* Detaches.  Names the tools that did not rest; with unload, unmaps all of limpet and names what
 * could not be unmapped. */
int session_leave(struct session *session, bool unload, struct session_left *ret_left,
		  struct err *err) MUST_CHECK;

/* Adds a line to the list; a full list stays as it is. */
void session_left_add(struct session_left *left, const char *format, ...) PRINTF_LIKE(2, 3);

void session_close(struct session *session);

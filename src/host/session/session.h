/*
 * One visit to a target: attach, load tools, publish variables, stay, leave.  The command line and
 * the C API both stand on it.
 */
#pragma once

#include "host/attach/attach.h"

struct trace;

struct session_options {
	struct attach_options attach;
	const char *const *tools; /* paths of libraries */
	size_t tool_count;
	const char *const *libraries; /* plain ones: their constructors are all */
	size_t library_count;
	uint32_t timeout_ms;          /* for each call of a tool; 0: SESSION_TIMEOUT_MS */
	const char *const *variables; /* "NAME=VALUE" */
	size_t variable_count;
	bool is_strict;            /* one bad tool ends it all */
	bool all_descendants;      /* of a tree: the user allows any number of them (scope.h) */
	const struct trace *trace; /* what limpet's own tracer is to do; NULL: it is not needed */
};

#define SESSION_TIMEOUT_MS 10000

struct session_tool {
	char path[TOOL_PATH_MAX];
	bool is_plain, by_content;
	bool is_ok;      /* every step so far went well */
	bool takes_part; /* it did not answer NULL */
	uint32_t index;  /* in the agent's page */
	char error[CONTROL_TEXT_MAX];
};

/* What stays in the target after it was asked to let everything go, one reason a line. */
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
	bool follows_counters; /* what tools bring of definitions is fetched */
	char warning[256];     /* what did not go well without being an error; empty: nothing */
	char unnoticed[256];   /* why limpet sees changes of rights late (notice.h); empty: it does
				  not */
};

/* On failure the target is as it was.  A tool that fails is noted in its entry; with is_strict it
 * is the failure.  The address must not change. */
int session_open(struct session *ret, pid_t pid, const struct session_options *options,
		 struct err *err) MUST_CHECK;

/* Leaves.  Tools that did not obey are named; with unload, everything of ours goes, and what could
 * not is named. */
int session_leave(struct session *session, bool unload, struct session_left *ret_left,
		  struct err *err) MUST_CHECK;

/* Adds a line to the list; a full list stays as it is. */
void session_left_add(struct session_left *left, const char *format, ...) PRINTF_LIKE(2, 3);

void session_close(struct session *session);

/*
 * One session with a target: attach, load tools, publish variables, stay, detach.  The command line
 * and the C API both use it.
 */
#pragma once

#include "host/session/options.h"

struct session {
	struct attachment attachment;
	struct session_tool tools[AGENT_TOOLS_MAX];
	size_t tool_count, failed_tools;
	bool follows_counters; /* fetches the definitions that tools bring */
};

/* On failure the target is unchanged.  A tool that fails is noted in its entry; with is_strict the
 * session fails.  The struct must not move. */
int session_open(struct session *ret, pid_t pid, const struct session_options *options,
		 struct err *err) MUST_CHECK;

/* Detaches.  Names the tools that did not rest; with unload, unmaps all of limpet and names what
 * could not be unmapped. */
int session_detach(struct session *session, bool unload, struct session_left *ret_left,
		   struct err *err) MUST_CHECK;

void session_close(struct session *session);

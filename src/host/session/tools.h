/*
 * Sends tool libraries to the agent and takes their steps.
 */
#pragma once

#include "host/session/session.h"

/* How many are no library for this machine, or cannot be read; err has the first reason.  Reads the
 * files only. */
size_t tools_check(const char *const *paths, size_t count, struct err *err) MUST_CHECK;

/* Loads one tool; tool->is_plain selects a plain library.  On failure the target is unchanged. */
int tool_load(struct session *session, const char *path, struct session_tool *tool,
	      struct err *err) MUST_CHECK;

/* Has the agent take one step with a loaded tool. */
int tool_step(struct session *session, struct session_tool *tool, enum tool_step step,
	      struct err *err) MUST_CHECK;

/*
 * Handing a tool library to the agent.
 */
#pragma once

#include "host/session/session.h"

/* How many are no library for this machine, or cannot be read; err has the first reason.  Looks,
 * and touches no process. */
size_t tools_check(const char *const *paths, size_t count, struct err *err) MUST_CHECK;

/* Loads one tool; tool->is_plain says how.  The target is unharmed either way. */
int tool_load(struct session *session, const char *path, struct session_tool *tool,
	      struct err *err) MUST_CHECK;

/* Has the agent take one step with a tool that is loaded. */
int tool_step(struct session *session, struct session_tool *tool, enum tool_step step,
	      struct err *err) MUST_CHECK;

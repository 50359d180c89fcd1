/*
 * Handing a tool library to the agent.
 */
#pragma once

#include "host/session/session.h"

/* Loads one tool; 0, or an error that says which and why.  The target is unharmed either way. */
int tool_load(struct session *session, const char *path, struct session_tool *ret,
	      struct err *err) MUST_CHECK;

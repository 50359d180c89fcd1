/*
 * limpet's own tool for sessions that trace nothing: it notices when the program is about to change
 * what it may do, and has the agent leave before.  A session without it goes on, and says why.
 */
#pragma once

#include "host/session/session.h"

#define NOTICE_NAME "liblimpet-notice.so"

/* Loads and attaches it; session->unnoticed says why it could not. */
void notice_open(struct session *session);

/* Is it this one?  Nobody has asked for it, so nobody is shown it. */
bool tool_is_notice(const struct agent_tool *tool);

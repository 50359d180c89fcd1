/*
 * Sends devices' counters to the agent, for tools that use counters: only the host reads
 * definitions.
 */
#pragma once

#include "host/session/session.h"

/* Called before tools are configured.  Does nothing where no tool uses counters; where there are no
 * counters, the session's warning has the reason, and tools see none. */
int counters_tell(struct session *session, const struct session_options *options,
		  struct err *err) MUST_CHECK;

/* Called after tools were configured, and the last time after they were initialized: evaluates the
 * definitions that tools have brought, and sends them the result. */
int counters_follow(struct session *session, bool is_last, struct err *err) MUST_CHECK;

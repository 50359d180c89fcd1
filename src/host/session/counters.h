/*
 * Tells the agent which counters devices have, for tools that ask for counters: definitions are
 * read on the host only.
 */
#pragma once

#include "host/session/session.h"

/* Before tools are configured.  Where none of them asks, nothing is done; where there are no
 * counters, the session's warning says why, and tools find none. */
int counters_tell(struct session *session, const struct session_options *options,
		  struct err *err) MUST_CHECK;

/* After tools were configured, and, the last time, initialized: those that have brought definitions
 * are told what comes of them. */
int counters_follow(struct session *session, bool is_last, struct err *err) MUST_CHECK;

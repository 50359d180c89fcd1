/*
 * The proof before libraries are unmapped, and the list of what stayed.
 */
#pragma once

#include "host/session/session.h"

/* Adds every reason why the tools must stay mapped. */
int unload_find_reasons(const struct session *session, struct session_left *ret,
			struct err *err) MUST_CHECK;

/* After unloading: the agent itself, if the loader keeps it. */
void unload_find_agent(const struct session *session, struct session_left *ret);

/* After unloading: limpet's mappings that are still there. */
int unload_find_leftovers(const struct session *session, const struct agent_page *before,
			  struct session_left *ret, struct err *err) MUST_CHECK;
